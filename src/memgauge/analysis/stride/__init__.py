"""The analysis of the experiment `stride`."""
