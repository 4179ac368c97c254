"""The analysis of the experiment `numa`."""
