"""Journal of everything a run creates that may outlive it, written before it is created.

Each entry is a small file below `areas` in the state directory, where `memgauge system --clean`
finds it. An entry proves nothing: only the mark in a thing itself shows that memgauge created it.
"""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import msgspec

from memgauge.model.errors import SystemFailure
from memgauge.model.storage.codec import UNREADABLE
from memgauge.model.storage.files import read_file, replace_file
from memgauge.model.storage.user_directories import required_state_directory, state_directory
from memgauge.system.owner import Owner, this_process

DIRECTORY = "areas"
MOST_BYTES = 64 << 10
"""Largest entry: a path has at most 4 KiB, and each byte takes up to six in JSON."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One file, pool, device or directory that a run used."""

    kind: str
    """Kind of memory, as in `--memory`, or the kind of a `work_directory`."""
    path: str
    """Absolute."""
    host: str
    owner: Owner
    """The run that used it last."""
    kept: bool
    """Whether it was left there on purpose."""

    @property
    def is_of_this_host(self) -> bool:
        """Home directories are shared in clusters."""
        return self.host == _host()


def register(kind: str, path: str, *, kept: bool = False) -> Entry:
    """Record what this process is about to create, or that it is now kept on purpose.

    Args:
        kind: Kind of memory, as in `--memory`, or the kind of a `work_directory`.
        path: The thing; a relative path is recorded as absolute.
        kept: Whether the thing is to stay after the run.

    Raises:
        SystemFailure: the entry cannot be written; the caller must not create anything.
    """
    entry = Entry(
        kind=kind, path=str(Path(path).absolute()), host=_host(), owner=this_process(), kept=kept
    )
    file = _file(kind, path)
    try:
        replace_file(file, [msgspec.json.encode(entry)])
    except OSError as error:
        raise SystemFailure(
            f"{file}: cannot record that {path} is used: {error.strerror}; free space there, or "
            "set XDG_STATE_HOME to another directory"
        ) from error
    return entry


def forget(kind: str, path: str) -> None:
    """Remove the entry of a thing that is gone or not ours; no effect without an entry."""
    with suppress(OSError, SystemFailure):
        _file(kind, path).unlink()


def entries() -> list[Entry]:
    """All entries by path; entries that cannot be read are left out."""
    found = []
    state = state_directory()
    with suppress(OSError):
        for file in (state / DIRECTORY).glob("*.json") if state is not None else ():
            with suppress(OSError, *UNREADABLE):
                content = read_file(file, MOST_BYTES)
                found.append(msgspec.json.decode(content, type=Entry))
    return sorted(found, key=lambda entry: entry.path)


def _host() -> str:
    return platform.node() or "localhost"


def _file(kind: str, path: str) -> Path:
    name = "\0".join((kind, str(Path(path).absolute()), _host()))
    digest = sha256(os.fsencode(name)).hexdigest()[:24]
    return required_state_directory() / DIRECTORY / f"{digest}.json"
