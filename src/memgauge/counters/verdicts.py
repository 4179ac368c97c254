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
from memgauge.model.counting.events import Counter, EventVerdict
from memgauge.model.errors import SystemFailure
from memgauge.model.records import CounterSet
from memgauge.model.storage.codec import UNREADABLE
from memgauge.model.storage.files import read_file, replace_file
from memgauge.model.storage.user_directories import required_state_directory, state_directory
from memgauge.system.gpu.devices import driver_version
from memgauge.system.tree import Tree

FORMAT = 1
MOST_BYTES = 16 << 20
"""Of a file: more than all events of the largest machine need."""
DIRECTORY = "verdicts"


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
    except (FileNotFoundError, SystemFailure):
        return KeptVerdicts(of={})
    except OSError as error:
        return _unusable(place, error.strerror or "cannot be read")
    try:
        file = msgspec.json.decode(content, type=_File)
    except UNREADABLE:
        return _unusable(place, "is not whole")
    if file.format != FORMAT:
        return _unusable(place, f"has format {file.format}, which this version does not know")
    if (file.machine, file.kernel) != (place.machine, place.kernel):
        return _unusable(place, "is of another machine or kernel")
    mine = [one for one in file.verdicts if one.gpu is None or one.driver == place.driver]
    return KeptVerdicts(of={verdict.event: verdict for verdict in mine})


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
    """The counters, each with what verification said of its event."""
    known = kept_here(host)
    stamped = [
        msgspec.structs.replace(counter, verdict=_of(known.of.get(counter.event), counter))
        for counter in made.of
    ]
    notes = [*made.notes, *([known.note] if known.note else [])]
    return msgspec.structs.replace(made, of=stamped, notes=notes)


def _of(verdict: EventVerdict | None, counter: Counter) -> EventVerdict | None:
    return verdict if verdict is not None and verdict.holds_at([counter.instance]) else None


def _unusable(place: Place, why: str) -> KeptVerdicts:
    note = f"{place.path}: {why}: no verdict stands beside the counters; verify them again"
    return KeptVerdicts(of={}, note=note)


def _plain(text: str) -> str:
    """As a file name."""
    return re.sub(r"[^A-Za-z0-9._+-]", "_", text).lstrip(".") or "_"
