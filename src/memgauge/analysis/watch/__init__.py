"""Memory over time: figures of each moment, the baseline, alerts, and the section of a report."""
