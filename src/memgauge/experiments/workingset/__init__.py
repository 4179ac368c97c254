"""The experiment `workingset`."""
