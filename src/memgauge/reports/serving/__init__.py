"""Serves what a watch renders, from a process of its own."""
