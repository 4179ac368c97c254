"""The experiment `pages`."""
