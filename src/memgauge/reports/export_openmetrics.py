"""A profile as OpenMetrics text: every reading with its time, for databases of metrics.

Source: OpenMetrics 1.0.0 (Cloud Native Computing Foundation, 2020): families with TYPE, UNIT and
HELP, not interleaved; counters end in `_total`; stamps in seconds since 1970, rising; `# EOF` last.
Values are raw counts times their scale. A missing reading has no line. The families are made one
counter after the other, each by its own pass over the lane: memory does not grow with the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

import msgspec

from memgauge.model.counters import Counter
from memgauge.model.errors import RunFileError
from memgauge.model.run import Run
from memgauge.model.text import plain, quoted
from memgauge.model.timeline import BEGIN, END, FIRST_SLOT
from memgauge.reports.export_timeline import TableLane, table_lanes

_UNITS = {
    "B": "bytes",
    "J": "joules",
    "W": "watts",
    "s": "seconds",
    "Hz": "hertz",
    "°C": "celsius",
    "%": "percent",
}


class _Family(msgspec.Struct, frozen=True):
    name: str
    unit: str
    kind: str
    """counter or gauge."""
    help: str
    members: list[tuple[TableLane, Counter]]


def openmetrics(run: Run) -> Iterator[bytes]:
    """The text in pieces.

    Raises:
        RunFileError: the run holds no timeline, or does not say when it began.
    """
    epoch_s = _epoch_s(run)
    for family in _families(run):
        yield "".join(_head(family)).encode()
        suffix = "_total" if family.kind == "counter" else ""
        for lane, counter in family.members:
            labelled = f"{family.name}{suffix}{_labels(lane, counter)}"
            for text in _points(lane, counter, labelled, epoch_s):
                yield text.encode()
    yield b"# EOF\n"


def _epoch_s(run: Run) -> float:
    try:
        return datetime.fromisoformat(run.start.started_at).timestamp()
    except ValueError:
        raise RunFileError(
            f"{run.directory}: began at {quoted(run.start.started_at)}, which is no time; "
            "export csv, whose stamps are of the run's own clock"
        ) from None


def _families(run: Run) -> list[_Family]:
    found: dict[str, _Family] = {}
    for lane in table_lanes(run):
        for counter in lane.counters.of:
            family = _family(lane, counter)
            known = found.setdefault(family.name, family)
            if known is not family:
                known.members.append((lane, counter))
    return list(found.values())


def _family(lane: TableLane, counter: Counter) -> _Family:
    unit = _UNITS.get(counter.unit, _word(counter.unit))
    kind = "gauge" if counter.gauge else "counter"
    stem = _word(counter.quantity).removesuffix("_bytes")
    if counter.quantity == "count":
        stem = _word(counter.event.partition(":")[2])
    if unit and stem.endswith(f"_{unit}"):
        stem = stem.removesuffix(f"_{unit}")
    parts = ["memgauge", counter.domain, stem, "level" if counter.gauge else "", unit]
    return _Family(
        name="_".join(filter(None, parts)),
        unit=unit,
        kind=kind,
        help=f"{counter.quantity.replace('_', ' ')} of {counter.domain}: raw times its scale",
        members=[(lane, counter)],
    )


def _word(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def _head(family: _Family) -> Iterator[str]:
    yield f"# TYPE {family.name} {family.kind}\n"
    if family.unit:
        yield f"# UNIT {family.name} {family.unit}\n"
    yield f"# HELP {family.name} {family.help}\n"


def _labels(lane: TableLane, counter: Counter) -> str:
    """Tell every counter of the run from every other."""
    labels = {
        "lane": lane.lane.counters,
        "counter": counter.name,
        "instance": counter.instance,
        "basis": counter.basis,
    }
    if counter.socket is not None:
        labels["socket"] = str(counter.socket)
    written = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{written}}}"


def _escaped(text: str) -> str:
    return plain(text).replace("\\", "\\\\").replace('"', '\\"')


def _points(lane: TableLane, counter: Counter, labelled: str, epoch_s: float) -> Iterator[str]:
    whole_s, rest_s = divmod(epoch_s, 1)
    before_ns = -1
    for block in lane.reader.blocks():
        try:
            begins, ends = block.values(BEGIN), block.values(END)
            values = block.values(FIRST_SLOT + counter.slot)
        except RunFileError:
            continue
        there = block.present(FIRST_SLOT + counter.slot) or [True] * block.samples
        lines = []
        for begin, end, raw, present in zip(begins, ends, values, there, strict=True):
            at_ns = ((begin + end) >> 1) + round(rest_s * 1e9)
            if present and at_ns > before_ns:
                seconds, ns = divmod(at_ns, 1_000_000_000)
                stamp = f"{int(whole_s) + seconds}.{ns:09d}"
                lines.append(f"{labelled} {raw * counter.scale!r} {stamp}\n")
                before_ns = at_ns
        yield "".join(lines)
