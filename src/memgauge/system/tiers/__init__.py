"""Kinds of memory: nodes, persistent memory, CXL, GPUs, with evidence for each."""
