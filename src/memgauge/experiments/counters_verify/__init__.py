"""The experiment behind `counters verify`."""
