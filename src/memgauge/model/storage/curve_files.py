"""Names and columns of files of bandwidth-latency curves, which `export` writes and readers know.

Mess's simulators read a directory with one file for each even percentage of reads,
`bwlat_0.txt` to `bwlat_100.txt`: two columns, MB/s (1e6 bytes) and latency, from the highest load
to the lowest. All 51 must be there, for they are told apart by their order. Source:
bsc-mem/Mess-simulator, `Standalone/data/README.md` and `mess_mem_ctrl.cpp` of its version in ZSim.
"""

from __future__ import annotations

import re

MESS_NAME = re.compile(r"bwlat_(100|[1-9]?[0-9])\.txt", re.ASCII)
MESS_PERCENTAGES = range(0, 101, 2)
NOTE_NAME = "README.txt"
NOTE_TITLE = "Bandwidth-latency curves by memgauge"
NS_LINE = "latency unit: ns"
MEASURED_LINE = "measured percentages of reads: "
"""Begins the line that lists the files that are measured; the others repeat the nearest of them."""

CURVE_COLUMNS = ("run", "load", "read_share_percent", "gb_per_s", "latency_ns")
"""Of `--format csv-curve`: points of a load in order of rising load."""
RAMULATOR_COLUMNS = ("Label", "Bandwidth (GB/s)", "Avg Random Read Latency (ns)")
"""Of `--format ramulator`: as CMU-SAFARI/ramulator2 names what it simulates, in `mess/plot.py`."""


def mess_name(percent: int) -> str:
    """Name of the file of a percentage of reads."""
    return f"bwlat_{percent}.txt"
