"""Where one command is interrupted: directories of its own, with files of a user's among them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from tests.integration.ranks.two_hosts import environment
from tests.kills.scenarios import RECORDED, TREE, Scenario

PROGRAM = """#!/bin/sh
echo begun > begun
sleep 0.2 &
/bin/true
wait
echo done > done
"""
_DIRECTORIES = ("home", "state", "cache", "temporary", "work")
_OF_USERS = (
    "work/.report.html.12345",
    "work/.memgauge-0123456789abcdef",
    "work/arrays.mine",
    "work/memgauge-runs/.records.jsonl.1",
    "temporary/memgauge-mine",
    "temporary/memgauge-simulate-mine/out.1",
    "temporary/vgdb-pipe-mine",
    "state/memgauge/mine",
    "cache/memgauge/.vega.js.1",
)
_PRECIOUS = b"a user's own\n"


class Place(msgspec.Struct, frozen=True):
    """Directories for one command; `shared` is the machine's shared memory, None where others
    use it too."""

    root: Path
    shared: Path | None

    @property
    def work(self) -> Path:
        """The working directory."""
        return self.root / "work"

    @property
    def environment(self) -> dict[str, str]:
        """Of the command."""
        return environment() | {
            "HOME": str(self.root / "home"),
            "XDG_STATE_HOME": str(self.root / "state"),
            "XDG_CACHE_HOME": str(self.root / "cache"),
            "TMPDIR": str(self.root / "temporary"),
            "COLUMNS": "100",
        }

    def files(self) -> set[Path]:
        """All that is there and no directory, and directories that are empty."""
        roots = [self.root] if self.shared is None else [self.root, self.shared]
        found = set()
        for root in roots:
            for folder, _, names in os.walk(root):
                here = Path(folder)
                found |= {here / name for name in names}
        return found

    def touched_of_users(self) -> list[str]:
        """Files of users that are no longer as they were."""
        return [name for name in _OF_USERS if not _is_precious(self.root / name)]

    def of_users(self) -> set[Path]:
        """Files of users, and what the command was given."""
        return {self.root / name for name in _OF_USERS} | {self.work / TREE}


def _is_precious(path: Path) -> bool:
    try:
        return path.read_bytes() == _PRECIOUS
    except OSError:
        return False


@contextmanager
def place_for(
    scenario: Scenario, root: Path, prepared: Path, shared: Path | None
) -> Iterator[Place]:
    """A fresh one, removed afterwards.

    Args:
        scenario: whose files are put there.
        root: of the place; made.
        prepared: what a run to read and a filled cache are copied from.
        shared: see `Place`.
    """
    place = Place(root, shared)
    for name in _DIRECTORIES:
        (root / name).mkdir(parents=True)
    for name in _OF_USERS:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(_PRECIOUS)
    program = place.work / TREE
    program.write_text(PROGRAM, encoding="utf-8")
    program.chmod(0o755)
    shutil.copytree(prepared / RECORDED, place.work / RECORDED)
    if (prepared / "cache").exists() and not scenario.cold:
        shutil.copytree(
            prepared / "cache", root / "cache", dirs_exist_ok=True, copy_function=os.link
        )
    try:
        yield place
    finally:
        shutil.rmtree(root)
        for path in () if shared is None else shared.iterdir():
            path.unlink()
