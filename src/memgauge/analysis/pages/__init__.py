"""The analysis of the experiment `pages`."""
