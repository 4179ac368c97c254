"""The analysis of a combined run: nodes beside each other."""
