"""Regions that a program under diagnosis marks: time inside, and what counters saw there."""
