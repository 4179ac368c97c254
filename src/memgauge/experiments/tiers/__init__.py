"""The experiment `tiers`."""
