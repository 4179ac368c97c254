"""Files of an input on disk, for readers that open files; in memory where that is possible.

Between two inputs only what differs is written: most mutants change one file of many.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - of a directory of its own
_LONGEST_NAME = 120
LINK = b"-> "
"""What the contents of a symbolic link begin with; where it leads to, below the root, follows."""

Files = Mapping[str, bytes]
"""From a path below the root to contents."""


@cache
def scratch(name: str) -> Planted:
    """A directory of this process, removed when it ends; what libFuzzer ends leaves it there."""
    made = tempfile.mkdtemp(prefix="memgauge-fuzz-", dir=None if "TMPDIR" in os.environ else MEMORY)
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    root = Path(made) / name
    root.mkdir()
    return Planted(root)


class Planted:
    """A directory that holds exactly the files of the latest input."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._there: dict[str, bytes] = {}

    def plant(self, files: Files) -> None:
        """Make the directory hold these files; names that no file can have are left out."""
        wanted = _usable(files)
        for path in [path for path in self._there if self._there[path] != wanted.get(path)]:
            self._remove(path)
        for path, content in wanted.items():
            if path not in self._there:
                self._write(path, content)

    def clear(self) -> None:
        """Leave nothing there, whoever wrote it."""
        shutil.rmtree(self.root)
        self.root.mkdir()
        self._there.clear()

    def _remove(self, path: str) -> None:
        del self._there[path]
        target = self.root / path
        with suppress(OSError):
            target.unlink()
            while (target := target.parent) != self.root:
                target.rmdir()  # fails, and ends this, where it is not empty

    def _write(self, path: str, content: bytes) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if content.startswith(LINK):
            to = content.removeprefix(LINK).strip().lstrip(b"/").decode("utf-8", "replace")
            with suppress(OSError, ValueError):
                target.symlink_to(self.root / to)
        else:
            target.write_bytes(content)
        self._there[path] = content


def _usable(files: Files) -> dict[str, bytes]:
    """Without names that are none, that step up, or that are both a file and a directory."""
    plain: dict[str, bytes] = {}
    for path, content in files.items():
        names = [name for name in path.split("/") if name not in {"", "."}]
        if names and all(_is_name(name) for name in names):
            plain["/".join(names)] = content
    directories = {parent for path in plain for parent in _parents(path)}
    links = {path for path, content in plain.items() if content.startswith(LINK)}
    return {
        path: content
        for path, content in plain.items()
        if path not in directories and not links.intersection(_parents(path))
    }


def _is_name(name: str) -> bool:
    encoded = name.encode("utf-8", "surrogateescape")
    return name != ".." and "\0" not in name and len(encoded) <= _LONGEST_NAME


def _parents(path: str) -> list[str]:
    names = path.split("/")
    return ["/".join(names[:at]) for at in range(1, len(names))]
