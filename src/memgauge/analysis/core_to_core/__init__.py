"""The analysis of the experiment `core_to_core`."""
