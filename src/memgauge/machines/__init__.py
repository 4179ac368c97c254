"""Machines whose caches can be simulated, as data: those that ship, a user's own, and this one."""
