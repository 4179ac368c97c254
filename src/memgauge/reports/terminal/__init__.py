"""A report and a run under way as text."""
