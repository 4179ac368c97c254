"""Kinds of records, by what they are of; those of every run are in `memgauge.model.records`."""
