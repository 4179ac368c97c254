"""Regions that a program under diagnosis marks: what limits each, and what it moves."""
