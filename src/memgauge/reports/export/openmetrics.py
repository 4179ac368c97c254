"""A profile as OpenMetrics text: every reading with its time, for databases of metrics.

Source: OpenMetrics 1.0.0 (Cloud Native Computing Foundation, 2020): families with TYPE, UNIT and
HELP, not interleaved; counters end in `_total`; stamps in seconds since 1970, rising; `# EOF` last.
Values are raw counts times their scale; a missing reading has no line. A counter that shared its
hardware counted for a part of the time and is not scaled up: it says `shared="true"`, and families
of their own hold the times by which its increase may be scaled. What its keeper scaled up already
says `estimate="true"`. The families are made one counter after the other, each by its own passes
over the lane: memory does not grow with the run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

import msgspec

from memgauge.model.counting.calibration import factor_text
from memgauge.model.counting.events import FULL_DUTY, Counter
from memgauge.model.errors import RunFileError
from memgauge.model.run import Run
from memgauge.model.storage.lane_file import BEGIN, END, FIRST_SLOT
from memgauge.model.text import plain, quoted
from memgauge.reports.export.timeline import TableLane, slot_values, table_lanes

_UNITS = {
    "B": "bytes",
    "J": "joules",
    "W": "watts",
    "s": "seconds",
    "Hz": "hertz",
    "°C": "celsius",
    "%": "percent",
}


_NS = 1e-9
_PREFIX = "memgauge"


class _Line(msgspec.Struct, frozen=True):
    """One slot over time."""

    lane: TableLane
    labels: str
    slot: int
    scale: float


class _Family(msgspec.Struct, frozen=True):
    name: str
    unit: str
    kind: str
    """counter or gauge."""
    help: str
    members: list[_Line]


def openmetrics(run: Run) -> Iterator[bytes]:
    """The text in pieces.

    Raises:
        RunFileError: the run holds no timeline, or does not say when it began.
    """
    epoch_s = _epoch_s(run)
    for family in _families(run):
        yield "".join(_head(family)).encode()
        suffix = "_total" if family.kind == "counter" else ""
        for line in family.members:
            for text in _points(line, f"{family.name}{suffix}{line.labels}", epoch_s):
                yield text.encode()
    yield b"# EOF\n"


def _epoch_s(run: Run) -> float:
    try:
        return datetime.fromisoformat(run.start.started_at).timestamp()
    except ValueError:
        raise RunFileError(
            f"{run.directory}: began at {quoted(run.start.started_at)}, which is not a time; "
            "export csv, whose stamps are of the run's own clock"
        ) from None


def _families(run: Run) -> list[_Family]:
    found: dict[str, _Family] = {}
    for lane in table_lanes(run):
        for counter in lane.counters.of:
            is_shared = _is_shared(lane, counter)
            labels = _labels(lane, counter, is_shared=is_shared)
            value = (_family(counter), counter.slot, counter.scale)
            for family, slot, scale in (value, *(_times(counter) if is_shared else ())):
                known = found.setdefault(family.name, family)
                known.members.append(_Line(lane, labels, slot, scale))
    return list(found.values())


def _is_shared(lane: TableLane, counter: Counter) -> bool:
    """Whether it was ever enabled for longer than it counted, or that is not known."""
    enabled, running = counter.enabled_slot, counter.running_slot
    if enabled is None or running is None:
        return False
    return _anywhere(
        lane,
        (counter.slot, enabled, running),
        lambda value, on, counting: value is not None and (on is None or on != counting),
    )


def _is_estimate(lane: TableLane, counter: Counter) -> bool:
    """Whether its keeper ever scaled it up, or did not say."""
    if counter.duty_slot is None:
        return False
    slots = (counter.slot, counter.duty_slot)
    return _anywhere(lane, slots, lambda value, duty: value is not None and duty != FULL_DUTY)


def _anywhere(lane: TableLane, slots: Sequence[int], holds: Callable[..., bool]) -> bool:
    """Whether it holds of the slots of any reading."""
    for block in lane.reader.blocks():
        try:
            columns = [slot_values(block, slot) for slot in slots]
        except RunFileError:
            continue
        if any(holds(*values) for values in zip(*columns, strict=True)):
            return True
    return False


def _times(counter: Counter) -> Iterator[tuple[_Family, int, float]]:
    """The ns for which a counter was enabled, and for which it counted."""
    what = {"enabled": counter.enabled_slot, "running": counter.running_slot}
    for name, slot in what.items():
        if slot is not None:
            text = f"time for which a counter of shared hardware was {name}"
            family = _Family(f"{_PREFIX}_counter_{name}_seconds", "seconds", "counter", text, [])
            yield family, slot, _NS


def _family(counter: Counter) -> _Family:
    unit = _UNITS.get(counter.unit, _word(counter.unit))
    kind = "gauge" if counter.gauge else "counter"
    stem = _word(counter.quantity).removesuffix("_bytes")
    if counter.quantity == "count":
        stem = _word(counter.event.partition(":")[2])
    if unit and stem.endswith(f"_{unit}"):
        stem = stem.removesuffix(f"_{unit}")
    parts = [_PREFIX, counter.domain, stem, "level" if counter.gauge else "", unit]
    return _Family(
        name="_".join(filter(None, parts)),
        unit=unit,
        kind=kind,
        help=f"{counter.quantity.replace('_', ' ')} of {counter.domain}: raw times its scale",
        members=[],
    )


def _word(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def _head(family: _Family) -> Iterator[str]:
    yield f"# TYPE {family.name} {family.kind}\n"
    if family.unit:
        yield f"# UNIT {family.name} {family.unit}\n"
    yield f"# HELP {family.name} {family.help}\n"


def _labels(lane: TableLane, counter: Counter, *, is_shared: bool) -> str:
    """Tell every counter of the run from every other."""
    labels = {
        "lane": lane.lane.counters,
        "counter": counter.name,
        "instance": counter.instance,
        "basis": counter.basis,
    }
    if counter.calibration is not None:
        labels["calibrated"] = f"x{factor_text(counter.calibration)}"
    if counter.socket is not None:
        labels["socket"] = str(counter.socket)
    if is_shared:
        labels["shared"] = "true"
    if _is_estimate(lane, counter):
        labels["estimate"] = "true"
    written = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{written}}}"


def _escaped(text: str) -> str:
    return plain(text).replace("\\", "\\\\").replace('"', '\\"')


def _points(line: _Line, labelled: str, epoch_s: float) -> Iterator[str]:
    whole_s, rest_s = divmod(epoch_s, 1)
    before_ns = -1
    for block in line.lane.reader.blocks():
        try:
            begins, ends = block.values(BEGIN), block.values(END)
            values = block.values(FIRST_SLOT + line.slot)
        except RunFileError:
            continue
        there = block.present(FIRST_SLOT + line.slot) or [True] * block.samples
        lines = []
        for begin, end, raw, present in zip(begins, ends, values, there, strict=True):
            at_ns = ((begin + end) >> 1) + round(rest_s * 1e9)
            if present and at_ns > before_ns:
                seconds, ns = divmod(at_ns, 1_000_000_000)
                stamp = f"{int(whole_s) + seconds}.{ns:09d}"
                lines.append(f"{labelled} {raw * line.scale!r} {stamp}\n")
                before_ns = at_ns
        yield "".join(lines)
