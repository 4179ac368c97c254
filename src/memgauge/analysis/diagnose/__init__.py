"""The analysis of `diagnose`."""
