"""The experiment `core_to_core`."""
