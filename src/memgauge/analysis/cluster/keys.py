"""Selects the few most informative figures for comparing nodes, with short names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memgauge.analysis.cluster.outliers import Judged, Key

MOST_KEYS = 12

_STREAM = re.compile(
    r"stream/(?P<kernel>[^/]+)/(?P<variant>[^/]+)/(?P<element>[^/]+)"
    r"/(?P<team>(?P<threads>[0-9]{1,6})t|cuda:[0-9]{1,4})"
)
_KERNELS = ("triad", "copy", "read", "write")
_VARIANTS = ("tuned", "standard")


def key_figures(judged: Judged) -> list[Key]:
    """Bandwidth of few kernels by all threads, by one and of GPUs, then latencies; 12 at most.

    If a kernel has a tuned and a standard variant, the tuned one is used, because it depends less
    on compilers; of several regimes, the one in which most nodes were observed.
    """
    found = [*_bandwidths(judged), *_latencies(judged), *_others(judged)]
    return list(dict.fromkeys(found))[:MOST_KEYS]


def label_of(key: Key) -> str:
    """A short name: `triad tuned 2t`, `latency DRAM thp`."""
    name, regime = key
    match = _STREAM.fullmatch(name)
    if match is not None:
        element = "" if match["element"] == "double" else f" {match['element']}"
        short = f"{match['kernel']} {match['variant']}{element} {match['team']}"
    else:
        short = name.replace("/", " ")
    return f"{short}, {regime}" if regime and regime != "one regime" else short


def _bandwidths(judged: Judged) -> Iterator[Key]:
    for team, kernels in _teams(judged):
        for kernel in kernels:
            for variant in _VARIANTS:
                key = _most_seen(judged, f"stream/{kernel}/{variant}/double/{team}")
                if key is not None:
                    yield key
                    break


def _teams(judged: Judged) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The largest team, one thread, and GPUs, with the kernels to show of each."""
    matches = [match for name, _ in judged.spreads if (match := _STREAM.fullmatch(name))]
    largest = max((int(match["threads"]) for match in matches if match["threads"]), default=0)
    if largest > 1:
        yield f"{largest}t", _KERNELS
    if largest:
        yield "1t", _KERNELS[:2]
    for gpu in dict.fromkeys(match["team"] for match in matches if not match["threads"]):
        yield gpu, _KERNELS


def _latencies(judged: Judged) -> Iterator[Key]:
    levels = set()
    for key in judged.spreads:
        parts = key[0].split("/")
        if parts[0] == "latency" and len(parts) > 1 and parts[1] not in levels:
            levels.add(parts[1])
            yield key


def _others(judged: Judged) -> Iterator[Key]:
    """Figures for nodes that measured none of the above."""
    if not any(name.startswith(("stream/", "latency/")) for name, _ in judged.spreads):
        yield from judged.spreads


def _most_seen(judged: Judged, name: str) -> Key | None:
    keys = [key for key in judged.spreads if key[0] == name]
    return max(keys, key=lambda key: judged.spreads[key].nodes, default=None)
