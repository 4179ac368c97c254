"""Each command with a small budget and small sizes: what it does is tested, not how well."""

from __future__ import annotations

import os
import re

from memgauge.model.experiments import DESCRIPTORS

RANKS = "budget of ranks"
SMALL = {"budget": "300ms", "array": "64KiB", "memory": "8MiB", RANKS: "20s"}

REPLACED: tuple[tuple[str, str], ...] = (
    (r"--budget \S+", f"--budget {SMALL['budget']}"),
    (r"--array-bytes \S+", f"--array-bytes {SMALL['array']}"),
    # Not of misses and stride, which refuse what fits in a cache.
    (r"(?<!misses )--largest-bytes \S+", f"--largest-bytes {SMALL['memory']}"),
    (r"--size \d+(,\d+)*", "--size 16"),
    (r"--sizes (\d+)[:,][\d:,]+(?= |$)", r"--sizes \1"),
    (r"(transfers .*--sizes) \S+", rf"\1 4KiB,{SMALL['array']}"),
    (r"--split 0-\d+", "--split 0-1"),
    (r"--simulate-up-to \S+", "--simulate-up-to 1s"),
    # A job of two ranks on this host, instead of what the page's cluster had.
    (r"(mpirun .*)-n \d+", r"\1-n 2"),
    (r"(mpirun .*memgauge (?:survey|cluster)\b)(?!.*--only)", r"\1 --only latency"),
    (r"(mpirun .*)--only stream,latency", r"\1--only latency"),
    (r"(mpirun .*)--precision \S+", r"\1--precision 90%"),
    (r"(mpirun .*)--budget \S+", rf"\1--budget {SMALL[RANKS]}"),
    (r"(mpirun .*fft3d .*)--grid 2x4", r"\1--grid 1x2"),
    (r" \.\.\.(?= )| --hostfile \S+| --map-by node", ""),
    (r"/mnt/pmem0?(?=/| |$)", "$PWD/pmem"),
    (r"--pid \d+", "--pid $RUNNING"),
    (r"(diagnose .*)--budget \S+ ", r"\1"),
    (r"--program-cpus \S+ --pressure-cpus \S+", "--program-cpus 0 --pressure-cpus 1"),
    (r"(memgauge watch\b(?!.*--for))", r"\1 --for 300ms"),
    (r"(watch .*)--for \d+(?:[smh]|min)\b", r"\1--for 300ms"),
    (r"(watch .*)--period \S+", r"\1--period 200ms"),
    (r"(watch .*--listen) \S+", r"\1 127.0.0.1:0"),
    (r"memgauge diagnose", "memgauge diagnose --rounds 1 --budget 9s --simulate-up-to 1s"),
)
"""Regular expressions and what they become, one after the other."""

ADDED: dict[str, str] = {
    **{" ".join(one.words): "" for one in DESCRIPTORS.values() if one.host and not one.has_program},
    **dict.fromkeys(("survey", "cluster"), ""),
    "stream": f"--array-bytes {SMALL['array']}",
    "tiers": f"--array-bytes {SMALL['array']}",
    "workingset": f"--largest-bytes {SMALL['memory']}",
    "pages": f"--largest-bytes {SMALL['memory']}",
    "transfers": f"--largest-bytes {SMALL['array']}",
    "traffic": "--sizes 64",
}
"""Options of commands that measure, beside a budget, where the page does not give them."""

COMMAND = re.compile(r"memgauge ((?:counters )?[a-z0-9-]+)")
OPTION = re.compile(r"(--\S+) (\S+)")
THREADS = re.compile(r"(?<=--threads )[\d,]+")
PROBED = ("loaded",)
"""Commands one of whose CPUs is for the probe."""


def shortened(text: str) -> str:
    """The command as it is run here."""
    for pattern, replacement in REPLACED:
        text = re.sub(pattern, replacement, text)
    found = COMMAND.search(text)
    free = len(os.sched_getaffinity(0)) - (found is not None and found[1] in PROBED)
    text = THREADS.sub(lambda threads: _at_most(max(1, free), threads[0]), text)
    if found is None or found[1] not in ADDED:
        return text
    budget = SMALL[RANKS if "mpirun " in text else "budget"]
    enough = "--precision 90%" if "mpirun " in text else ""
    wanted = OPTION.findall(f"--budget {budget} {enough} {ADDED[found[1]]}")
    missing = [f"{flag} {value}" for flag, value in wanted if not _is_given(flag, text)]
    return " ".join([text, *missing])


def _is_given(flag: str, text: str) -> bool:
    """Whether the page says it, or another option that excludes it."""
    excluded = flag == "--largest-bytes" and "--sizes " in text
    return excluded or f"{flag} " in text


def _at_most(cpus: int, threads: str) -> str:
    """Numbers of threads, none of them larger than there are CPUs."""
    counts = [min(int(count), cpus) for count in threads.split(",")]
    return ",".join(str(count) for count in dict.fromkeys(counts))
