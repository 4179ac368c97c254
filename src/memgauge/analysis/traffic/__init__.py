"""The analysis of the experiment `traffic`."""
