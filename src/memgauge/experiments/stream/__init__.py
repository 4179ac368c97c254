"""The experiment `stream`."""
