"""Verdicts of `memgauge counters verify`, kept beside the machine they were made on.

One file for each machine and kernel release, `memgauge/verdicts/MACHINE/KERNEL.json` below
`$XDG_STATE_HOME` (`~/.local/state` where that is not set). A verdict holds for the kind of machine
and the kernel it was made under: another kernel may count otherwise. One on a GPU's counters holds
for that GPU and the driver it was made under, too. A tree that stands in for
`/sys` has verdicts of its own, since its events are not this machine's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import msgspec

from memgauge.counters.host import Host, this_host
from memgauge.model.counting.calibration import (
    CALIBRATION_VARIABLE,
    calibrated_text,
    calibration_of,
    factor_text,
    verdict_on,
)
from memgauge.model.counting.events import MEMORY_TRAFFIC, Counter, EventVerdict
from memgauge.model.errors import SystemFailure
from memgauge.model.record_kinds.counters import CounterSet
from memgauge.model.storage.codec import UNREADABLE
from memgauge.model.storage.files import read_file, replace_file
from memgauge.model.storage.user_directories import required_state_directory, state_directory
from memgauge.model.text import few
from memgauge.system.gpu.devices import driver_version
from memgauge.system.tree import Tree

FORMAT = 1
MOST_BYTES = 16 << 20
"""Of a file: more than all events of the largest machine need."""
DIRECTORY = "verdicts"
_MOST_NAMED = 3


class KeptVerdicts(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of one machine and kernel."""

    of: dict[str, EventVerdict]
    """By event."""
    note: str | None = None
    """Why there are none, where a file is there that cannot be used."""


class _File(msgspec.Struct, frozen=True, kw_only=True):
    format: int
    machine: str
    kernel: str
    verdicts: list[EventVerdict]


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """What verdicts are kept by."""

    machine: str
    kernel: str
    driver: str | None = None
    """Version of the kernel's driver of NVIDIA GPUs, of which verdicts on their counters are."""

    @property
    def path(self) -> Path:
        """The file.

        Raises:
            SystemFailure: the user has no home directory.
        """
        directory = required_state_directory() / DIRECTORY
        return directory / _plain(self.machine) / f"{_plain(self.kernel)}.json"


def place_of(host: Host | None = None) -> Place:
    """This machine and kernel, and the tree that stands in for `/sys` where one does."""
    from memgauge.system.detect import detect

    where = host or this_host()
    system = detect()
    tree = ""
    if where.is_substituted:
        tree = "-tree-" + sha256(str(where.sysfs.absolute()).encode()).hexdigest()[:8]
    return Place(
        machine=f"{system.machine_id}{tree}",
        kernel=system.kernel,
        driver=driver_version(Tree()),
    )


def kept(place: Place) -> KeptVerdicts:
    """What was kept; nothing, and a note why, where the file cannot be used. Never raises."""
    try:
        content = read_file(place.path, MOST_BYTES)
    except FileNotFoundError:
        return KeptVerdicts(of={}, note=_of_other_kernels(place))
    except SystemFailure:
        return KeptVerdicts(of={})
    except OSError as error:
        return _unusable(place, error.strerror or "cannot be read")
    file = _decoded(content, place)
    if isinstance(file, str):
        return _unusable(place, file)
    mine = [one for one in file.verdicts if one.gpu is None or one.driver == place.driver]
    return KeptVerdicts(of={verdict.event: verdict for verdict in mine})


def _decoded(content: bytes, place: Place) -> _File | str:
    """The file; or why it cannot be used."""
    try:
        file = msgspec.json.decode(content, type=_File)
    except UNREADABLE:
        return "is not whole"
    if file.format != FORMAT:
        return f"has format {file.format}, which this version does not know"
    if (file.machine, file.kernel) != (place.machine, place.kernel):
        return "is of another machine or kernel"
    return file


def keep(place: Place, verdicts: Iterable[EventVerdict]) -> Path:
    """Add verdicts to those kept, newer ones in place of older; whole or not at all.

    Raises:
        SystemFailure: the file cannot be written.
    """
    merged = kept(place).of | {verdict.event: verdict for verdict in verdicts}
    file = _File(
        format=FORMAT, machine=place.machine, kernel=place.kernel, verdicts=list(merged.values())
    )
    path = place.path
    try:
        replace_file(path, [msgspec.json.format(msgspec.json.encode(file), indent=1), b"\n"])
    except OSError as error:
        raise SystemFailure(
            f"{path}: verdicts cannot be kept: {error.strerror}; free space, or name another "
            f"directory by XDG_STATE_HOME"
        ) from error
    return path


def kept_here(host: Host | None = None) -> KeptVerdicts:
    """What was kept of this machine and kernel; cheap where nothing ever was."""
    state = state_directory()
    if state is None or not os.path.isdir(state / DIRECTORY):  # noqa: PTH112 - never raises
        return KeptVerdicts(of={})
    return kept(place_of(host))


def with_verdicts(made: CounterSet, host: Host) -> CounterSet:
    """The counters, each with what verification said of its event, and calibrated if that holds.

    Notes state each factor that is applied, each that could be, and each verdict that was kept of
    another encoding or scale than the event has now.
    """
    known = kept_here(host)
    notes: dict[str, None] = {}
    stamped = []
    for counter in made.of:
        verdict, why_not = verdict_on(known.of, counter, [counter.instance])
        factor = calibration_of(verdict, host.calibration)
        if why_not is not None:
            notes[f"{counter.event}: {why_not}"] = None
        if verdict is not None and (note := _calibration_note(verdict, factor)):
            notes[f"{counter.event}: {note}"] = None
        stamped.append(_calibrated(msgspec.structs.replace(counter, verdict=verdict), factor))
    concerns_memory = any(counter.quantity in MEMORY_TRAFFIC for counter in made.of)
    own = [known.note] if known.note and concerns_memory else []
    return msgspec.structs.replace(made, of=stamped, notes=[*made.notes, *own, *notes])


def _calibrated(counter: Counter, factor: float | None) -> Counter:
    if factor is None or counter.verdict is None:
        return counter
    found = f"{calibrated_text(factor)} by counters verify of {counter.verdict.made_at[:10]}"
    return msgspec.structs.replace(
        counter,
        scale=counter.scale * factor,
        calibration=factor,
        scale_source="; ".join(filter(None, [counter.scale_source, found])),
    )


def _calibration_note(verdict: EventVerdict, factor: float | None) -> str | None:
    """What was done about a wrong scale, and how to have it otherwise."""
    if factor is not None:
        return (
            f"{calibrated_text(factor)}, as counters verify found on {verdict.made_at[:10]}; "
            f"{CALIBRATION_VARIABLE}=none switches it off"
        )
    possible = calibration_of(verdict, "any")
    if possible is None:
        return None
    known = calibration_of(verdict, "known") is not None
    cause = "a known cause" if known else "no known cause"
    return (
        f"found mis-scaled on {verdict.made_at[:10]}, by {cause}: no factor is applied "
        f"({CALIBRATION_VARIABLE}={'known' if known else 'any'} applies x{factor_text(possible)})"
    )


def _unusable(place: Place, why: str) -> KeptVerdicts:
    note = f"{place.path}: {why}: no verdict stands beside the counters; verify them again"
    return KeptVerdicts(of={}, note=note)


def _of_other_kernels(place: Place) -> str | None:
    """That verdicts were kept of this machine under other kernels only."""
    try:
        found = sorted(one.stem for one in place.path.parent.glob("*.json"))
    except OSError:
        return None
    if not found:
        return None
    return (
        f"verdicts on counters were kept under kernel {few(found, _MOST_NAMED)}, not under "
        f"{place.kernel}: none of them is used; verify again"
    )


def _plain(text: str) -> str:
    """As a file name."""
    return re.sub(r"[^A-Za-z0-9._+-]", "_", text).lstrip(".") or "_"
