"""Bandwidth benchmarks: STREAM, BabelStream, likwid-bench and `sysbench memory`."""

from __future__ import annotations

import re

from memgauge.references.foreign.parsed import (
    BEST,
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

_ELEMENTS = {"4": "float", "8": "double"}
_STREAM = re.compile(r"^STREAM version \$Revision", re.MULTILINE)
_STREAM_ROW = re.compile(
    r"^(Copy|Scale|Add|Triad):((?:[ \t]+[0-9.eE+-]+){1,5})[ \t]*$", re.MULTILINE
)
_STREAM_COLUMNS = [
    "threads", "function", "best rate MB/s", "average time s", "least time s", "most time s",
]  # fmt: skip
_BABEL_ROW = re.compile(
    r"^(Copy|Mul|Add|Triad|Dot|Nstream)((?:[ \t]+[0-9.eE+-]+){4})[ \t]*$", re.MULTILINE
)
_BABEL_UNIT = re.compile(r"^Function[ \t]+(\S{1,20})[ \t]+Min \(sec\)", re.MULTILINE)
_BABEL_CSV_UNIT = re.compile(r"\bmax_(\w{1,12}?)_per_sec\b")
_UNITS = {
    "mb": 1e-3, "mbytes": 1e-3, "gb": 1.0, "gbytes": 1.0, "tb": 1e3, "tbytes": 1e3,
    "mib": MIB_PER_S, "mibytes": MIB_PER_S, "gib": 2**30 / 1e9, "gibytes": 2**30 / 1e9,
    "tib": 2**40 / 1e9, "tibytes": 2**40 / 1e9,
}  # fmt: skip
_BABEL_KERNELS = {"copy": "copy", "mul": "scale", "add": "add", "triad": "triad"}
"""Those that count as kernels of `stream` do, by their names there."""
_LIKWID = re.compile(r"^LIKWID MICRO BENCHMARK[ \t]*$", re.MULTILINE)
_LIKWID_KERNELS = {
    "copy": "copy", "load": "read", "store": "write", "stream": "triad",
}  # fmt: skip
"""By the first word of the test; its `triad` has four arrays, and is another loop."""
_SYSBENCH = re.compile(r"^sysbench [0-9]", re.MULTILINE)


def stream(text: str) -> Parsed:
    """STREAM 5.x in C, once or several times. A run that did not validate has no figures."""
    rows: list[dict[str, str]] = []
    figures: list[PublishedFigure] = []
    caveats: dict[str, None] = {}
    for one in parts_of(_STREAM, text):
        element = _ELEMENTS.get(found(r"^This system uses (\d+) bytes per", one))
        counted = whole(found(r"^Number of Threads counted = (\d+)", one))
        threads = 1 if counted is None and "Number of Threads" not in one else counted
        is_valid = "\nSolution Validates" in one
        known = element is not None and threads is not None
        if not is_valid:
            caveats["its results are not stated to have validated, so none is a figure"] = None
        elif not known:
            caveats["its elements or its threads are not in its output"] = None
        elif counted is None:
            caveats["no number of threads is in its output, as without OpenMP: taken as 1"] = None
        for match in rows_of(_STREAM_ROW, one):
            cells = [str(threads or ""), match[1], *match[2].split()]
            row = dict(zip(_STREAM_COLUMNS, cells, strict=False))
            rows.append(row)
            if is_valid and known:
                kernel = match[1].lower()
                figures += figure(
                    f"stream/{kernel}/standard/{element}/{threads}t",
                    "GB/s",
                    scaled(number(row["best rate MB/s"]), MB_PER_S),
                    f"{kernel}, {threads} threads",
                    BEST,
                )
    caveats["its CPUs, page size and compiler are not in its output"] = None
    return Parsed(
        tool="STREAM",
        version=found(r"^STREAM version \$Revision: ([\w.]{1,20}) \$", text),
        counts=PROGRAM_BYTES,
        figures=figures,
        columns=_STREAM_COLUMNS,
        rows=rows[:MOST_ROWS],
        conditions=[found(r"^(Array size = \d{1,20} \(elements\))", text)],
        caveats=[*caveats],
    )


def babelstream(text: str) -> Parsed:
    """BabelStream 3 to 5, as a table or with --csv."""
    header = _BABEL_CSV_UNIT.search(text)
    unit = header or _BABEL_UNIT.search(text)
    scale = _UNITS.get(unit[1].lower().split("/")[0]) if unit else None
    printed = f"best rate {unit[1] if unit else ''}"
    if header:
        rows = _babel_csv(text, header[0], printed)
        element = _ELEMENTS.get(found(r"^\w{1,20},\d{1,9},\d{1,20},([48]),", text))
    else:
        rows = [
            {"function": match[1], printed: match[2].split()[0]}
            for match in rows_of(_BABEL_ROW, text)
        ]
        element = found(r"^Precision: (float|double)", text)
    is_refuted = "Validation failed" in text or "FAILED validation" in text
    figures = [
        one
        for row in rows
        for one in figure(
            _babel_name(row["function"], element),
            "GB/s",
            scaled(number(row[printed]), scale) if scale else None,
            f"{row['function']}, {element}",
            BEST,
        )
    ]
    caveats = ["its output does not say how many threads ran: it stands beside a run's best team"]
    if is_refuted:
        caveats.insert(0, "its own validation failed, so none of its results is a figure")
    return Parsed(
        tool="BabelStream",
        version=found(r"^Version: ([\w.]{1,20})", text),
        counts=PROGRAM_BYTES,
        apart="memgauge has no such loop",
        figures=figures if element and not is_refuted else [],
        columns=["function", printed],
        rows=rows,
        conditions=[found(r"^(Implementation: .{1,60})$", text)],
        caveats=caveats,
    )


def _babel_name(function: str, element: str | None) -> str:
    kernel = _BABEL_KERNELS.get(function.lower())
    if kernel is None:
        return f"babelstream/{part(function.lower())}/{element}"
    return f"stream/{kernel}/babelstream/{element}/best team"


def _babel_csv(text: str, column: str, printed: str) -> list[dict[str, str]]:
    lines = text.splitlines()
    start = next(at for at, line in enumerate(lines) if column in line)
    head = lines[start].split(",")
    if column not in head or "function" not in head:
        return []
    rows = [line.split(",") for line in lines[start + 1 : start + 1 + MOST_ROWS]]
    return [
        {"function": row[head.index("function")], printed: row[head.index(column)]}
        for row in rows
        if len(row) == len(head)
    ]


def likwid_bench(text: str) -> Parsed:
    """likwid-bench 4 and 5, one or several tests in one file."""
    rows: list[dict[str, str]] = []
    figures: list[PublishedFigure] = []
    for block in parts_of(_LIKWID, text):
        row = {
            "test": found(r"^Test: (\w{1,40})[ \t]*$", block),
            "threads": found(r"^Using (\d{1,6}) threads", block),
            "size B": found(r"^Size(?: \(Byte\))?:[ \t]+(\d{1,18})[ \t]*$", block),
            "MByte/s": found(r"^MByte/s:[ \t]+([0-9.]{1,30})[ \t]*$", block),
        }
        rows.append(row)
        if all(row.values()):
            figures += figure(
                _likwid_name(row["test"], row["threads"], row["size B"]),
                "GB/s",
                scaled(number(row["MByte/s"]), MB_PER_S),
                f"{row['test']}, {row['threads']} threads, {row['size B']} B",
                "mean over its run",
                {"size": f"{row['size B']} B"},
            )
    places = [match[1] for match in rows_of(_LIKWID_PLACE, text)]
    return Parsed(
        tool="likwid-bench",
        counts=PROGRAM_BYTES,
        apart="it is a loop that memgauge has not, or of a size that its caches may hold",
        figures=figures,
        columns=["test", "threads", "size B", "MByte/s"],
        rows=rows,
        conditions=[f"hardware threads {', '.join(dict.fromkeys(places[:64]))}" if places else ""],
        caveats=[
            (
                "its loops are written in assembler, with stores of their own kind, which the name "
                "of a test states"
            ),
        ],
    )


LEAST_MEMORY_BYTES = 256_000_000
"""Of a test of likwid-bench: below it the last-level caches of a server may hold the arrays."""
_LIKWID_PLACE = re.compile(r"running on (?:hwthread|core) (\d{1,6})\b")


def _likwid_name(test: str, threads: str, size: str) -> str:
    """As a kernel of `stream`, where it is one and its arrays lie in memory."""
    words = test.split("_")
    kernel = _LIKWID_KERNELS.get(words[0])
    is_double = not {"sp", "int"} & set(words)
    if kernel is None or not is_double or int(size) < LEAST_MEMORY_BYTES:
        return f"likwid-bench/{test}/{size}B/{threads}t"
    return f"stream/{kernel}/likwid-{test}/double/{threads}t"


def sysbench(text: str) -> Parsed:
    """`sysbench memory run`, versions 0.4 to 1.0, once or several times."""
    rows = [_sysbench_row(one) for one in parts_of(_SYSBENCH, text)]
    # Before 1.0 it printed MB and divided by 2^20 as it does now.
    figures = [
        one
        for row in rows
        if all(row.values())
        for one in figure(
            "/".join(
                [
                    "sysbench",
                    *(part(row[key]) for key in ("operation", "block", "scope")),
                    f"{row['threads']}t",
                ]
            ),
            "GB/s",
            scaled(number(row["rate"]), MIB_PER_S),
            f"{row['operation']}, blocks of {row['block']}, {row['threads']} threads",
            "mean over its run",
        )
    ]
    return Parsed(
        tool="sysbench memory",
        version=found(r"^sysbench ([\w.]{1,20})", text),
        counts="bytes of the blocks that its loop goes over, in caches where a block fits there",
        apart="it goes over one block again and again, element by element",
        figures=figures,
        columns=["operation", "block", "scope", "threads", "rate", "unit"],
        rows=rows,
        caveats=[
            (
                "a block that a cache can hold is read and written there: its figures are of "
                "memory only where --memory-block-size is much larger than the caches"
            ),
        ],
    )


def _sysbench_row(text: str) -> dict[str, str]:
    settings = {
        key: found(rf"^[ \t]*{new}: (\w{{1,20}})", text) or found(rf"^{old}: (\w{{1,20}})", text)
        for key, new, old in (
            ("operation", "operation", "Memory operations type"),
            ("block", "block size", "Memory block size"),
            ("scope", "scope", "Memory scope type"),
        )
    }
    return {
        **settings,
        "threads": found(r"^Number of threads: (\d{1,6})", text),
        "rate": found(r"transferred \(([0-9.]{1,30}) Mi?B/sec\)", text),
        "unit": found(r"transferred \([0-9.]{1,30} (Mi?B)/sec\)", text),
    }
