"""Small texts: sizes, times, lists of CPUs, placements, grids; one line `NAME TEXT` each.

What is read is written again and read to the same; numbers are shown without an exception.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from tests.fuzz.invariants import check_refusal

from memgauge.commands.cluster_ranks import ClusterOptions
from memgauge.experiments.tiers.memory_pairs import parse_side
from memgauge.experiments.traffic.sizes import expand, parse_sizes, write_sizes
from memgauge.experiments.transfers.parameters import parse_peers
from memgauge.model import units
from memgauge.model.cpulist import format_cpu_list, parse_cpu_list
from memgauge.model.errors import RequestError
from memgauge.model.grid import parse_grid
from memgauge.model.memory import parse_placement
from memgauge.model.nests import KINDS, extents_of, parse_kernel
from memgauge.model.option import parse_pid
from memgauge.model.parameters import build, fields_of, parse_cpus
from memgauge.model.text import did_you_mean, few, plain, quoted
from memgauge.runner.profiling.parameters import parse_rate
from memgauge.simulation.two_levels import nearest
from memgauge.system.topology.caches import parse_size
from memgauge.system.tree import sorted_numbers

IS_JSON = False
FLAG = "--flag"


def seeds() -> Iterator[bytes]:
    """Good and bad ones of each."""
    yield "\n".join(f"{name} {text}" for name in READERS for text in _EXAMPLES).encode()
    for name in READERS:
        yield "\n".join(f"{name} {text}" for text in _EXAMPLES[:6]).encode()


_EXAMPLES = (
    "64MiB", "60s", "1%", "0-3,8", "node:1", "interleave:0=3,1=1", "2x4", "file:/mnt/a:b", "1.5e9",
    "10m", "64:2048:64", "100Hz", "dram:node:2", "7", "", "-1", "9" * 40, "1e308", "32K", "gemm",
    "76.8GB/s",
)  # fmt: skip


def run(data: bytes) -> None:
    """Each line through its reader."""
    for line in data.decode("utf-8", "surrogateescape").split("\n")[:32]:
        name, _, text = line.partition(" ")
        read = READERS.get(name)
        if read is None:
            continue
        try:
            read(text)
        except RequestError as error:
            check_refusal(error)


def _bytes(text: str) -> None:
    size = units.parse_bytes(text, FLAG)
    assert 0 < size < units.PIB
    assert units.parse_bytes(units.bytes_text(size), FLAG) == size
    _shown(units.format_bytes(size))
    cache = nearest(size, size % 33, 64)
    assert cache.bytes % (cache.ways * 64) == 0


def _bandwidth(text: str) -> None:
    bytes_per_s = units.parse_bandwidth(text, FLAG)
    assert 0 < bytes_per_s < math.inf


def _duration(text: str) -> None:
    seconds = units.parse_duration(text, FLAG)
    assert 0 < seconds <= 30 * 86_400
    _shown(units.format_duration(seconds))
    _shown(units.format_long(seconds * 1e6))


def _share(text: str) -> None:
    assert 0 <= units.parse_whole_share(text, FLAG) <= 1
    assert 0 < units.parse_share(text, FLAG) < 1


def _counts(text: str) -> None:
    counts = units.parse_counts(text, FLAG, 0, 4096)
    assert units.parse_counts(units.counts_text(counts), FLAG, 0, 4096) == counts
    assert units.parse_counts(parse_cpus(text, FLAG), FLAG, 0, 1 << 20)


def _cpus(text: str) -> None:
    """At an interface inside, where ValueError is what is documented."""
    try:
        numbers = parse_cpu_list(text)
    except ValueError as error:
        check_refusal(error)
        return
    assert parse_cpu_list(format_cpu_list(numbers)) == numbers
    assert sorted_numbers(text) == sorted(numbers)


def _placement(text: str) -> None:
    placement = parse_placement(text, FLAG)
    assert parse_placement(str(placement), FLAG) == placement


def _side(text: str) -> None:
    side = parse_side(text, FLAG)
    assert parse_side(str(side), FLAG) == side


def _sizes(text: str) -> None:
    ranges = parse_sizes(text, FLAG)
    assert parse_sizes(write_sizes(ranges), FLAG) == ranges
    sizes = expand(ranges)
    for kernel in KINDS:
        extents_of(kernel, sizes[-1])


def _cluster(text: str) -> None:
    for field in fields_of(ClusterOptions):
        try:
            build(ClusterOptions, **{field.name: text})
        except RequestError as error:
            check_refusal(error)


def _cache_size(text: str) -> None:
    size = parse_size(text)
    assert size is None or size >= 0


def _words(text: str) -> None:
    """Text of strangers as messages show it."""
    once = plain(text)
    assert plain(once) == once
    assert len(once.splitlines()) <= 1
    assert len(quoted(text)) <= 62
    names = text.split(",")
    assert plain(few([plain(name) for name in names], 3)).count(",") <= 3
    did_you_mean(once[:80], KINDS)


def _shown(text: str) -> None:
    assert text
    assert plain(text) == text
    assert "nan" not in text


def _rate(text: str) -> None:
    assert math.isfinite(parse_rate(text, FLAG))


READERS: dict[str, Callable[[str], object]] = {
    "bytes": _bytes,
    "duration": _duration,
    "bandwidth": _bandwidth,
    "share": _share,
    "count": lambda text: units.parse_count(text, FLAG, 0, 100),
    "counts": _counts,
    "cpus": _cpus,
    "placement": _placement,
    "side": _side,
    "sizes": _sizes,
    "cluster": _cluster,
    "cache": _cache_size,
    "words": _words,
    "rate": _rate,
    "pid": lambda text: parse_pid(text, FLAG),
    "grid": lambda text: parse_grid(text, FLAG),
    "kernel": parse_kernel,
    "peers": lambda text: parse_peers(text, FLAG),
}
"""By the name that begins a line."""
