"""Why tests are skipped: a count by reason, and which of it is known.

What a test needs is installed, mounted or reserved by the test command. What is left needs hardware
or a batch system. Where MEMGAUGE_SKIPS is `known`, as in CI, more skips than here fail the tests.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

KNOWN: dict[str, tuple[str, int]] = {
    "needs a GPU": (r"CUDA driver|libnvidia-ml|[Cc]u[Pp]y", 30),
    "needs several memory nodes or tiers": (
        r"NUMA node|one memory node|memory on one node|tier of memory|/dev/dax",
        23,
    ),
    "needs counters of the hardware": (r"no counters? of|uncore_imc", 13),
    "needs more CPUs or free memory": (r"no CPU \d|huge pages", 8),
    "needs Slurm": (r"no srun", 2),
    "is no command to run in a test": (
        r"sets up an installation|no command|changes what|destroys|half an hour|no test starts",
        18,
    ),
    "needs a library of a vendor": (r"no /opt/intel", 1),
    "needs the table of published figures": (r"MEMGAUGE_MACHINE_FIGURES", 1),
    "takes long, MEMGAUGE_GUEST_TIERS=all runs it": (r"MEMGAUGE_GUEST_TIERS", 5),
}
"""A pattern of the reason, and how many tests it skips on two CPUs with one memory node."""


def counted(reasons: Iterable[str]) -> Counter[str]:
    """How many were skipped, by a name of `KNOWN`, or by the reason itself where it is unknown."""
    return Counter(map(_name, reasons))


def excess(counts: Counter[str]) -> list[str]:
    """What is more than is known, in a line each."""
    return [
        f"{many} skipped where {KNOWN[name][1] if name in KNOWN else 0} are known: {name}"
        for name, many in counts.most_common()
        if many > (KNOWN[name][1] if name in KNOWN else 0)
    ]


def _name(reason: str) -> str:
    return next(
        (name for name, (pattern, _) in KNOWN.items() if re.search(pattern, reason)), reason
    )
