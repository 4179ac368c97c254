"""Runs of the program, and what is seen of one."""
