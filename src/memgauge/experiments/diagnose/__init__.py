"""The experiment `diagnose`."""
