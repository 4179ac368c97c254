"""A directory that looks like a mounted resctrl, whose groups can be made and removed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from memgauge.system.resctrl import groups

if TYPE_CHECKING:
    import pytest

ROOT = "fs/resctrl"
GROUP = f"memgauge-diagnose-{os.getpid()}"
FILES = {
    "schemata": "    MB:0=100;1=100\n    L3:0=fff;1=fff\n",
    "tasks": f"1\n{os.getpid()}\n",
    "cpus": "3\n",
    "info/last_cmd_status": "ok\n",
    "info/MB/min_bandwidth": "10\n",
    "info/MB/num_closids": "8\n",
    "info/L3/cbm_mask": "fff\n",
    "info/L3/min_cbm_bits": "1\n",
    "info/L3/num_closids": "16\n",
}


class Planted:
    """The directory below a made-up sysfs. What is written to its files is kept, line by line."""

    def __init__(self, sysfs: Path, files: dict[str, str]) -> None:
        self.sysfs = sysfs
        for name, text in files.items():
            path = sysfs / ROOT / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def plant_group(self, name: str) -> None:
        """A group as the kernel makes it."""
        path = self.sysfs / ROOT / name
        path.mkdir()
        for file in ("schemata", "tasks", "cpus"):
            (path / file).write_text("")

    def groups(self) -> list[str]:
        """Those beside the root's."""
        names = sorted(one.name for one in (self.sysfs / ROOT).iterdir() if one.is_dir())
        return [name for name in names if name != "info"]

    def written(self, group: str, file: str) -> list[str]:
        """Lines of a file, of all writes."""
        return (self.sysfs / ROOT / group / file).read_text().split()


def appended(path: Path, line: str) -> None:
    """A write as the kernel takes it: each is a request of its own."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(descriptor, f"{line}\n".encode())
    finally:
        os.close(descriptor)


def removed(path: Path) -> None:
    """The kernel removes a group with its files."""
    if not path.exists():
        raise FileNotFoundError(2, "No such file or directory")
    shutil.rmtree(path)


def made(planted: Planted) -> Callable[[Path], None]:
    """The kernel makes a group with its files."""
    return lambda path: planted.plant_group(path.name)


def planted(
    sysfs: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str] | None = None
) -> Planted:
    """Plant it, in the place of the system's.

    Args:
        sysfs: Where to.
        monkeypatch: Undoes it.
        files: None: a resctrl with two caches that limits bandwidth and ways.
    """
    found = Planted(sysfs, FILES if files is None else files)
    monkeypatch.setattr(groups, "SYSFS", sysfs)
    monkeypatch.setattr(groups, "_make_directory", made(found))
    monkeypatch.setattr(groups, "_remove_directory", removed)
    monkeypatch.setattr(groups, "_write", appended)
    return found
