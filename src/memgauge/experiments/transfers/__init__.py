"""The experiment `transfers`."""
