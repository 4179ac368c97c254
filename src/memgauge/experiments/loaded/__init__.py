"""The experiment `loaded`."""
