"""The experiment `stride`."""
