"""Latency and loaded latency: Intel MLC, multichase and multiload."""

from __future__ import annotations

import re
from itertools import islice
from typing import Literal

from memgauge.references.foreign.parsed import (
    AS_PRINTED,
    MB_PER_S,
    MIB_PER_S,
    MOST_ROWS,
    PROGRAM_BYTES,
    Parsed,
    figure,
    found,
    number,
    part,
    parts_of,
    rows_of,
    scaled,
    whole,
)
from memgauge.references.library import PublishedFigure

Rows = list[dict[str, str]]

_HEAD = re.compile(r"^Measuring [^\n]{0,200}$", re.MULTILINE)
_PAIR = re.compile(r"^[ \t]*(\d{5})[ \t]+([0-9.]{1,20})[ \t]+([0-9.]{1,20})[ \t]*$", re.MULTILINE)
_RATIO = re.compile(
    r"^[ \t]*(ALL Reads|[1-3]:1 Reads-Writes|Stream-triad like)[ \t]*:[ \t]*([0-9.]{1,20})",
    re.MULTILINE,
)
_MATRIX_ROW = re.compile(
    r"^[ \t]*(\d{1,4})((?:[ \t]+(?:[0-9.]{1,20}|-)){1,1024})[ \t]*$", re.MULTILINE | re.ASCII
)
_IDLE = re.compile(
    r"^Each iteration took [0-9.]{1,20} core clocks \([ \t]*([0-9.]{1,20})[ \t]+ns\)", re.MULTILINE
)


def mlc(text: str) -> Parsed:
    """Intel Memory Latency Checker 3.x: idle latencies, peaks, node matrices, loaded latencies."""
    rows: Rows = []
    figures: list[PublishedFigure] = []
    for one in parts_of(_HEAD, text):
        head, _, body = one.partition("\n")
        if head.startswith("Measuring Loaded Latencies"):
            figures += _mlc_loaded(body, rows)
        elif head.startswith(("Measuring Peak Injection", "Measuring Maximum Memory Bandwidths")):
            figures += _mlc_peaks(body, rows)
        elif head.startswith("Measuring idle latencies"):
            figures += _mlc_matrix(body, rows, "idle latency", "ns")
        elif head.startswith("Measuring Memory Bandwidths between nodes"):
            figures += _mlc_matrix(body, rows, "bandwidth of reads", "GB/s")
    for match in rows_of(_IDLE, text):
        rows.append({"what": "idle latency", "value": match[1], "unit": "ns"})
        figures += figure("mlc/idle", "ns", number(match[1]), "idle latency")
    return Parsed(
        tool="Intel Memory Latency Checker",
        version=found(r"Memory Latency Checker[^\n]{0,40}? - v([\w.-]{1,20})", text),
        counts="of reads alone the bytes read; of mixes it does not say whether lines that stores "
        "read first are counted",
        apart="only what it measures with reads alone, over all CPUs, is known to count alike",
        figures=figures,
        columns=["what", "value", "unit"],
        rows=rows[:MOST_ROWS],
        conditions=[found(r"^(Command line parameters: [^\n]{1,60})", text)],
        caveats=[
            (
                "of its mixes MLC does not say whether lines that stores read first are counted: "
                "only what it measures with reads alone is compared with a run"
            ),
            "its injection delays are in units of its own, whose length is not printed",
        ],
    )


def _mlc_peaks(body: str, rows: Rows) -> list[PublishedFigure]:
    """Reads alone under the name of the mix that they are, of the team of all CPUs."""
    figures: list[PublishedFigure] = []
    for match in rows_of(_RATIO, body):
        rows.append({"what": f"bandwidth, {match[1]}", "value": match[2], "unit": "MB/s"})
        name = f"mlc/peak/{part(match[1].lower())}"
        figures += figure(
            "mix/100r/sequential/best team" if match[1] == "ALL Reads" else name,
            "GB/s",
            scaled(number(match[2]), MB_PER_S),
            f"most bandwidth, {match[1]}",
        )
    return figures


def _mlc_loaded(body: str, rows: Rows) -> list[PublishedFigure]:
    """The sweep; its ends under the names of a run's ends where all traffic is reads."""
    printed = [match.groups() for match in rows_of(_PAIR, body)]
    mix = "100r" if "Using Read-only traffic" in body else "mixed"
    figures: list[PublishedFigure] = []
    for delay, ns, rate in printed:
        rows.append({"what": f"latency at delay {delay}", "value": ns, "unit": "ns"})
        rows.append({"what": f"bandwidth at delay {delay}", "value": rate, "unit": "MB/s"})
        name = f"mlc/loaded/{mix}/d{int(delay)}"
        figures += figure(name, "ns", number(ns), f"latency at delay {delay}")
        figures += figure(
            f"{name}/traffic", "GB/s", scaled(number(rate), MB_PER_S), f"traffic at delay {delay}"
        )
    if mix != "100r" or len(printed) < 2:
        return figures
    (_, _, most), (_, unloaded, _) = min(printed), max(printed)
    return [
        *ends(number(unloaded), scaled(number(most), MB_PER_S)),
        *figures,
    ]


def ends(
    unloaded_ns: float | None, most_gb_per_s: float | None, statistic: str = AS_PRINTED
) -> list[PublishedFigure]:
    """The ends of a curve under load of reads alone, as `loaded` names them.

    Args:
        unloaded_ns: Latency at the longest delay.
        most_gb_per_s: Traffic without delay.
        statistic: How both were made.
    """
    return [
        *figure(
            "loaded/100r/unloaded",
            "ns",
            unloaded_ns,
            "latency under the least load, reads",
            statistic,
        ),
        *figure(
            "loaded/100r/least-delay/traffic",
            "GB/s",
            most_gb_per_s,
            "traffic without delay, reads",
            statistic,
        ),
    ]


def _mlc_matrix(
    body: str, rows: Rows, title: str, unit: Literal["ns", "GB/s"]
) -> list[PublishedFigure]:
    figures: list[PublishedFigure] = []
    scale, printed = (1.0, "ns") if unit == "ns" else (MB_PER_S, "MB/s")
    for match in rows_of(_MATRIX_ROW, body):
        node = match[1]
        for memory, cell in enumerate(match[2].split()):
            label = f"{title}, CPUs of node {node}, memory of node {memory}"
            rows.append({"what": label, "value": cell, "unit": printed})
            name = f"mlc/{part(title)}/{node}-{memory}"
            figures += figure(name, unit, scaled(number(cell), scale), label)
    return figures


_CHASE = re.compile(r"^nr_mixer_indices = ", re.MULTILINE)
_RESULT = re.compile(r"^[ \t]*([0-9]{1,12}(?:\.[0-9]{1,9})?)[ \t]*$", re.MULTILINE)


def multichase(text: str) -> Parsed:
    """`multichase -v`, once or several times; without -v it prints a bare number."""
    rows = [_chase(one) for one in parts_of(_CHASE, text)]
    return Parsed(
        tool="multichase",
        counts="time of one load of a chase",
        apart="its order of addresses is set by its options, and is that of no point of a run",
        figures=[
            one
            for row in rows
            if all(row.values())
            for one in figure(
                "/".join(
                    [
                        "multichase",
                        part(row["chase"]),
                        f"{row['memory B']}B",
                        f"s{row['stride B']}",
                        f"T{row['TLB locality B']}",
                        f"{row['threads']}t",
                    ]
                ),
                "ns",
                number(row["ns"]),
                f"chase {row['chase']} through {row['memory B']} B",
                "least of its samples, or with -a their mean",
            )
        ],
        columns=["chase", "memory B", "stride B", "TLB locality B", "threads", "ns"],
        rows=rows,
        caveats=["its output does not say whether -a was given, which makes a mean of samples"],
    )


def _chase(text: str) -> dict[str, str]:
    results = [match[1] for match in rows_of(_RESULT, text)]
    settings = {
        title: found(rf"^{name} = ([\w:.-]{{1,40}})", text)
        for title, name in (
            ("chase", "chase"),
            ("memory B", "total_memory"),
            ("stride B", "stride"),
            ("TLB locality B", "tlb_locality"),
            ("threads", "nr_threads"),
        )
    }
    return settings | {"ns": results[-1] if results else ""}


READS = "stream-sum"
"""The load of multiload that only reads."""


def multiload(text: str) -> Parsed:
    """The table of multiload: a header, and a line for each run."""
    head: list[str] = []
    rows: Rows = []
    for line in islice(text.splitlines(), MOST_ROWS):
        cells = [cell.strip() for cell in line.split(",")]
        if "ChaseNS" in cells:
            head = cells
        elif head and len(cells) == len(head):
            rows.append(dict(zip(head, cells, strict=True)))
    figures: list[PublishedFigure] = []
    for row in rows:
        chase, load = (part(row.get(key, "")) for key in ("ChaseArg", "MemLdArg"))
        chasing, loading, size = (
            part(row.get(key, "")) for key in ("ChaseThds", "LoadThds", "Byte/thd")
        )
        threads, buffer = part(f"{chasing}+{loading}t"), part(f"{size}B")
        name = f"multiload/{chase}/{load}/{threads}/{buffer}"
        label = f"{chase} beside {load}"
        figures += figure(
            name, "ns", number(row.get("ChaseNS", "")), f"latency, {label}", "mean of its samples"
        )
        figures += figure(
            f"{name}/traffic",
            "GB/s",
            scaled(number(row.get("LdAvgMibs", "")), MIB_PER_S),
            f"traffic, {label}",
            "mean of its samples",
        )
    return Parsed(
        tool="multiload",
        counts=PROGRAM_BYTES,
        apart="only traffic of reads at full speed is that of a run; its chase is another",
        figures=figures + _most_reads(rows),
        columns=head,
        rows=rows,
        caveats=[
            ("its loads run at full speed unless -d delays them, which its table does not show"),
        ],
    )


def _most_reads(rows: Rows) -> list[PublishedFigure]:
    """Traffic of the largest team of readers, as `loaded` names what it reaches without delay."""
    reading = [
        (threads, rate)
        for row in rows
        if row.get("MemLdArg") == READS
        and (threads := whole(row.get("LoadThds", ""))) is not None
        and (rate := number(row.get("LdAvgMibs", ""))) is not None
    ]
    most = max((threads for threads, _ in reading), default=0)
    rates = [rate for threads, rate in reading if threads == most]
    return ends(None, rates[0] * MIB_PER_S) if len(rates) == 1 else []
