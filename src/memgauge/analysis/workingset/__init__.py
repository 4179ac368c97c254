"""The analysis of the experiment `workingset`."""
