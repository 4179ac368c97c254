"""The analysis of the experiment `loaded`."""
