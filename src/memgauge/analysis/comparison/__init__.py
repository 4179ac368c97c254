"""Figures of several runs and published results beside each other."""
