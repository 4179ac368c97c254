"""`perf stat -x` and `perf stat -j`, with or without -I: amounts that events count in bytes.

perf multiplies a count by the scale that the kernel publishes, so an event of a memory controller
has a unit such as MiB. Other events count no bytes, and are no figures.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import msgspec

from memgauge.references.foreign.parsed import LARGEST, MOST_ROWS, Parsed, figure, number, part
from memgauge.references.library import PublishedFigure

_BYTES = {
    "B": 1.0, "Bytes": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9,
    "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30,
}  # fmt: skip
_SEPARATORS = ",;|\t:"
_NO_VALUE = ("<not counted>", "<not supported>")
_SHARE = re.compile(r"[0-9]{1,3}\.[0-9]{2}", re.ASCII)
_SECONDS = re.compile(r"[0-9]{1,12}\.[0-9]{9}", re.ASCII)
_VALUE = re.compile(r"[0-9]{1,30}(?:\.[0-9]{1,12})?", re.ASCII)
_RUNNING = re.compile(r"[0-9]{1,20}", re.ASCII)
_MOST_CELLS = 10
_MOST_NAMED = 8
FULL_PERCENT = 99.995
"""Below it an event shared its counter, and perf has extrapolated what it counted."""


class _Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One line of an event."""

    seconds: float | None
    """Since the start, with -I."""
    value: float | None
    """In the unit; None: not counted."""
    unit: str
    event: str
    percent: float
    """Of the time in which it was counted."""
    why_not: str = ""
    """Why there is no value."""


class _Total:
    """What is known of an event after all its lines."""

    def __init__(self) -> None:
        self.unit = ""
        self.value = 0.0
        self.readings = 0
        self.seconds: float | None = None
        self.why_not = ""
        self.has_value = False

    def add(self, one: _Reading) -> None:
        """One more line of it, of any place and time."""
        self.unit = one.unit
        self.readings += 1
        self.value += one.value or 0.0
        self.has_value |= one.value is not None
        if one.seconds is not None:
            self.seconds = max(one.seconds, self.seconds or 0.0)
        if one.why_not:
            self.why_not = one.why_not
        elif one.unit not in _BYTES:
            self.why_not = "it does not count bytes"
        elif one.percent < FULL_PERCENT:
            self.why_not = "it shared its counter, and its count is extrapolated"


def perf_stat(text: str) -> Parsed:
    """Sum of each event whose unit is one of bytes; a mean rate where -I gives the elapsed time."""
    totals: dict[str, _Total] = {}
    for one in _readings(text):
        if one.event in totals or len(totals) < MOST_ROWS:
            totals.setdefault(one.event, _Total()).add(one)
    known = {event: total for event, total in totals.items() if not total.why_not}
    figures = [one for event, total in known.items() for one in _figures(event, total)]
    untold = [f"{event}: {total.why_not}" for event, total in totals.items() if total.why_not]
    more = [f"{len(untold) - _MOST_NAMED} more events are no figures"]
    is_untimed = known and all(total.seconds is None for total in known.values())
    return Parsed(
        tool="perf stat",
        counts="what the named events count: outside the cores for all programs and devices",
        apart="memgauge counts events itself, around its own work: see memgauge counters verify",
        figures=figures,
        columns=["event", "sum", "unit", "readings", "seconds"],
        rows=[
            {
                "event": event,
                "sum": f"{total.value:.15g}" if total.has_value else "",
                "unit": total.unit,
                "readings": str(total.readings),
                "seconds": "" if total.seconds is None else f"{total.seconds:.9f}",
            }
            for event, total in totals.items()
        ],
        caveats=[
            "whether its events count what their names say was not checked",
            *(["without -I it holds no elapsed time: amounts, no rates"] if is_untimed else []),
            *(f"no figure of {said}" for said in untold[:_MOST_NAMED]),
            *(more if len(untold) > _MOST_NAMED else []),
        ],
    )


def _figures(event: str, total: _Total) -> Iterator[PublishedFigure]:
    moved_bytes = total.value * _BYTES[total.unit]
    if not moved_bytes < LARGEST * 1e3:
        return
    name = f"perf/{part(event)}"
    yield from figure(name, "kB", moved_bytes / 1e3, event, "sum of all its readings")
    if total.seconds:
        yield from figure(
            f"{name}/rate",
            "GB/s",
            moved_bytes / total.seconds / 1e9,
            f"{event}, over {total.seconds:.3g} s",
            "mean over all intervals",
        )


def is_perf_csv(line: str) -> bool:
    """Whether a line is one that `perf stat -x` prints of an event."""
    return _csv_reading(line) is not None


def _readings(text: str) -> Iterator[_Reading]:
    for line in text.splitlines():
        found = _json_reading(line) if line.lstrip().startswith("{") else _csv_reading(line)
        if found is not None:
            yield found


def _json_reading(line: str) -> _Reading | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not {"counter-value", "event"} <= found.keys():
        return None
    value, unit, event = (
        str(found.get(key, ""))[:200] for key in ("counter-value", "unit", "event")
    )
    percent, seconds = (
        number(str(found.get(key, ""))[:40]) for key in ("pcnt-running", "interval")
    )
    return _reading(value, unit, event, percent, seconds)


def _csv_reading(line: str) -> _Reading | None:
    """value, unit, event, run time and share of it; before them the time (-I) and the place.

    The place stands in one column or two, so what tells the columns apart is the share behind the
    time.
    """
    for separator in _SEPARATORS:
        cells = [cell.strip() for cell in line[:2000].split(separator, 2 * _MOST_CELLS)]
        for at in range(4, min(len(cells), _MOST_CELLS)):
            value, unit, event, took, share = cells[at - 4 : at + 1]
            if not (_SHARE.fullmatch(share) and _RUNNING.fullmatch(took)):
                continue
            if not event or _VALUE.fullmatch(event):
                continue
            first = cells[0] if at > 4 and _SECONDS.fullmatch(cells[0]) else ""
            made = _reading(value, unit, event[:200], number(share), number(first))
            if made is not None:
                return made
    return None


def _reading(
    value: str, unit: str, event: str, percent: float | None, seconds: float | None
) -> _Reading | None:
    """None where the value is neither a count nor one of perf's words for there being none."""
    why = ""
    if value in _NO_VALUE:
        why = value.strip("<>")
    elif not _VALUE.fullmatch(value):
        return None
    return _Reading(
        seconds=seconds,
        value=None if why else float(value),
        unit=unit,
        event=event,
        percent=percent or 0.0,
        why_not=why,
    )
