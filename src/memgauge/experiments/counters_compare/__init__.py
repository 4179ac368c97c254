"""The experiment behind `counters compare`."""
