"""The peers of the bandwidth comparison: how each is called, and what its output says.

A peer is used when its program is on PATH or its path is given; none is fetched or built here.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Figures = dict[str, float]
"""Kernel to GB/s, by STREAM's counting; of STREAM also `elements` of each array and `passes`."""

TIMEOUT_S = 60


@dataclass(frozen=True)
class Call:
    """One command of a peer, and how its output reads."""

    arguments: tuple[str, ...]
    read: Callable[[str], Figures]
    kernels: frozenset[str]


@dataclass(frozen=True)
class Peer:
    """A program to compare with."""

    name: str
    program: str
    figure: str
    """What its number is: best of N, average, ..."""
    calls: Callable[[int, int], list[Call]]
    """Threads and bytes of one array to commands."""


def number(text: str) -> float | None:
    """A figure above zero; None where a program printed something else, such as `1.2.3`."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value < math.inf else None


def rows(pattern: str, names: Mapping[str, str], scale: float) -> Callable[[str], Figures]:
    """A reader for tables of a name and a rate."""
    expression = re.compile(pattern, re.MULTILINE)

    def read(text: str) -> Figures:
        found: Figures = {}
        for name, text_of_rate in expression.findall(text):
            rate = number(text_of_rate)
            if name in names and rate is not None:
                found[names[name]] = max(found.get(names[name], 0.0), rate * scale)
        return found

    return read


def one(kernel: str, pattern: str, scale: float) -> Callable[[str], Figures]:
    """A reader for a single rate; the best where it is printed several times."""
    expression = re.compile(pattern, re.MULTILINE)

    def read(text: str) -> Figures:
        rates = [rate for found in expression.findall(text) if (rate := number(found)) is not None]
        return {kernel: max(rates) * scale} if rates else {}

    return read


STREAM_ROWS = {"Copy": "copy", "Scale": "scale", "Add": "add", "Triad": "triad"}
BABEL_ROWS = {"Copy": "copy", "Mul": "scale", "Add": "add", "Triad": "triad", "Dot": "read"}
LIKWID = {
    "copy": "copy_mem_avx512",
    "triad": "stream_mem_avx512",
    "read": "load_avx512",
    "write": "store_mem_avx512",
    "update": "daxpy_avx512_fma",
}
"""Its fastest tests; they need AVX-512."""

PMBW = {"read": ("ScanRead256PtrUnrollLoop",), "write": ("ScanWrite256PtrUnrollLoop",)}


def _stream(threads: int, array_bytes: int) -> list[Call]:
    del threads, array_bytes
    rates = rows(r"^(\w+):\s+([\d.]+)", STREAM_ROWS, 1e-3)
    size = one("elements", r"^Array size = (\d+)", 1)
    passes = one("passes", r"^Each kernel will be executed (\d+) times", 1)

    def read(text: str) -> Figures:
        return rates(text) | size(text) | passes(text)

    return [Call((), read, frozenset(STREAM_ROWS.values()))]


def _babelstream(threads: int, array_bytes: int) -> list[Call]:
    del threads
    read = rows(r"^(\w+)\s+([\d.]+)", BABEL_ROWS, 1e-3)
    arguments = ("-s", str(array_bytes // 8 // 1024 * 1024), "-n", "12")
    return [Call(arguments, read, frozenset(BABEL_ROWS.values()))]


def _likwid(threads: int, array_bytes: int) -> list[Call]:
    arrays = {"copy": 2, "triad": 3, "read": 1, "write": 1, "update": 2}
    return [
        Call(
            ("-t", test, "-w", f"S0:{arrays[kernel] * array_bytes // 1000}kB:{threads}", "-s", "1"),
            one(kernel, r"^MByte/s:\s+([\d.]+)", 1e-3),
            frozenset({kernel}),
        )
        for kernel, test in LIKWID.items()
    ]


def _multiload(threads: int, array_bytes: int) -> list[Call]:
    loads = {"copy": "stream-copy", "triad": "stream-triad", "read": "stream-sum"}
    size = f"{3 * array_bytes // threads >> 20}m"
    return [
        Call(
            ("-H", "-t", str(threads), "-m", size, "-l", load, "-n", "3"),
            # The eighth column of its last line: the best sample, in MiB/s.
            one(kernel, r"^\d+(?:\s*,[^,\n]*){6},\s*(\d+)", 2**20 * 1e-9),
            frozenset({kernel}),
        )
        for kernel, load in loads.items()
    ]


def _pmbw(threads: int, array_bytes: int) -> list[Call]:
    size = str(array_bytes)
    return [
        Call(
            (
                *("-M", str(8 * array_bytes), "-f", test, "-p", str(threads), "-P", str(threads)),
                *("-s", size, "-S", size, "-o", "/dev/stdout"),
            ),
            one(kernel, r"bandwidth=([\d.]+)", 1e-9),
            frozenset({kernel}),
        )
        for kernel, tests in PMBW.items()
        for test in tests
    ]


NATIVE_STREAM = Peer("STREAM -O3 -march=native", "stream-native", "best of N", _stream)
PEERS = (
    Peer("STREAM -O2", "stream-O2", "best of N", _stream),
    Peer("STREAM -O3", "stream-O3", "best of N", _stream),
    NATIVE_STREAM,
    Peer("BabelStream", "babelstream", "best of N", _babelstream),
    Peer("likwid-bench", "likwid-bench", "average", _likwid),
    Peer("multiload", "multiload", "best of N", _multiload),
    Peer("pmbw", "pmbw", "average", _pmbw),
)


def find(peer: Peer, directories: Sequence[Path]) -> str | None:
    """The program: in one of the directories, or on PATH."""
    path = os.pathsep.join([*map(str, directories), os.environ.get("PATH", "")])
    return shutil.which(peer.program, path=path)


def run(program: str, call: Call, cpus: Sequence[int]) -> Figures:
    """What one call says; empty where it failed or printed nothing usable."""
    listed = ",".join(map(str, cpus))
    environment = os.environ | {
        "OMP_NUM_THREADS": str(len(cpus)),
        "OMP_PLACES": "{" + "},{".join(map(str, cpus)) + "}",
        "OMP_PROC_BIND": "true",
    }
    try:
        done = subprocess.run(
            ["taskset", "-c", listed, program, *call.arguments],
            capture_output=True,
            text=True,
            env=environment,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {}
    return call.read(done.stdout + done.stderr)
