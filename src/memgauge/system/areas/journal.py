"""What was made that must outlive a run, or outlives it when it is killed, written down before.

One small file for each, below `areas` in the state directory, so that `memgauge system --clean`
finds it. What is written here proves nothing: whether a thing is memgauge's own is known by the
mark in the thing itself.
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
"""Of an entry: a path has 4 KiB at most, each byte six in JSON."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One file, pool, device or directory that a run used."""

    kind: str
    """Of memory, as in `--memory`, or that of a `work_directory`."""
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
    """Write down what this process is about to make, or that it now stays there on purpose.

    Raises:
        SystemFailure: it cannot be written down; make nothing then.
    """
    entry = Entry(
        kind=kind, path=str(Path(path).absolute()), host=_host(), owner=this_process(), kept=kept
    )
    file = _file(kind, path)
    try:
        replace_file(file, [msgspec.json.encode(entry)])
    except OSError as error:
        raise SystemFailure(
            f"{file}: cannot note that {path} is used: {error.strerror}; free space there, or name "
            f"another directory by XDG_STATE_HOME"
        ) from error
    return entry


def forget(kind: str, path: str) -> None:
    """The thing is gone, or not ours; nothing is done where it was not written down."""
    with suppress(OSError, SystemFailure):
        _file(kind, path).unlink()


def entries() -> list[Entry]:
    """All that is written down, by path; what cannot be read is left out."""
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
