"""The analysis of the experiment `stream`."""
