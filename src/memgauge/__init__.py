"""Measure how fast a computer's memory really is, and where memory traffic goes."""
