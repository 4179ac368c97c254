"""Counters: back ends that open events, and what reads them together. One file for each back end.

A back end is listed even where it cannot work: its probe says why, and what would change it.
"""

from memgauge.model.callable_module import answer_calls

# `memgauge.counters("auto")` is the function of that name too.
answer_calls(__name__, "memgauge.counters.regions", "Counters")
