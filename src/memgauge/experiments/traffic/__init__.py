"""The experiment `traffic`."""
