"""Counters: back ends that open events, and what reads them together. One file for each back end.

A back end is listed even where it cannot work: its probe says why, and what would change it.
"""
