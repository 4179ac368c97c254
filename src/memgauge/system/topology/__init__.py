"""CPUs, caches and nodes, and where teams of threads are pinned."""
