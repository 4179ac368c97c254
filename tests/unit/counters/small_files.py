"""Made-up sysfs and procfs trees for back ends that read small files, and what they read there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from memgauge import _core
from memgauge.counters.base import MACHINE, BackEnd, Opened, Target
from memgauge.counters.host import Host
from memgauge.model.counting.events import Counter
from memgauge.model.counting.readings import Raw, counted

NOBODY = 65534


def plant(root: Path, files: dict[str, str]) -> Host:
    """Write files below `root/sys` and `root/proc`; paths begin with /sys or /proc."""
    for path, contents in files.items():
        target = root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(contents, encoding="utf-8")
    (root / "sys").mkdir(exist_ok=True)
    (root / "proc").mkdir(exist_ok=True)
    return Host(sysfs=root / "sys", procfs=root / "proc", architecture="x86_64")


class Opening:
    """Events opened together, read one after the other."""

    def __init__(self, made: Opened) -> None:
        self.made = made
        self.reader = _core.Reader(made.sources)

    def counter(self, name: str) -> Counter:
        return next(counter for counter in self.made.counters if counter.name == name)

    def raw(self) -> dict[str, int | None]:
        values = self.reader.read().values
        return {counter.name: values[counter.slot] for counter in self.made.counters}

    def read(self) -> Raw:
        return list(self.reader.read().values)

    def between(self, name: str, before: Raw, after: Raw) -> float | None:
        found = counted(self.counter(name), before, after)
        return None if found is None else found.value


def opening(back_end: BackEnd, texts: Sequence[str], target: Target = MACHINE) -> Opening:
    events = [event for text in texts for event in back_end.find(text)]
    return Opening(back_end.open(events, target))


@contextmanager
def open_to_all() -> Iterator[Path]:
    """A directory below which only a file's own mode decides who may read it."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made)


@contextmanager
def without_rights() -> Iterator[None]:
    """As an ordinary user; one already, if not root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
