"""The analysis of the experiment `transfers`."""
