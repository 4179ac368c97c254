"""The analysis of `counters verify`: a verdict on each event."""
