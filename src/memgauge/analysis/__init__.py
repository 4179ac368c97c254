"""From records to figures with intervals, sections and verdicts: pure functions.

Imports `memgauge.model` only, never the runner or the native core, so that a run is analysed on a
machine that could not have made it.
"""
