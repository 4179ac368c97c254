"""Counters as data: events, readings, timelines, marks."""
