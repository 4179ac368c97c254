"""The experiment `numa`."""
