"""The kernel's limits of shared cache and memory bandwidth, and what monitors them (resctrl)."""
