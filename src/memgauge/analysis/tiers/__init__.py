"""The analysis of the experiment `tiers`."""
