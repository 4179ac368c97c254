"""Comparisons of memgauge with itself and with its peers. Not tests: see README.md."""
