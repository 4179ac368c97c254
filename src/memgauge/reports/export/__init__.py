"""A run as tables, traces and metrics."""
