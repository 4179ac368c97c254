"""The experiment `interleave`."""
