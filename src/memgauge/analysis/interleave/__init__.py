"""The analysis of the experiment `interleave`."""
