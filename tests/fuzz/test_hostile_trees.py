"""Files of sysfs and procfs that no kernel wrote: what was found has holes, and nothing fails.

Each file that is read is replaced in turn, by every other of the contents below, or by all of them
if MEMGAUGE_FUZZ_MUTANTS is set. What MEMGAUGE_SYSFS names is a stranger's tree.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.counters_trees import machines
from tests.unit.counters import small_files
from tests.unit.counters.files import test_hwmon, test_infiniband, test_resctrl
from tests.unit.system import trees

from memgauge.counters.host import Host
from memgauge.counters.registry import states
from memgauge.model.errors import MemgaugeError
from memgauge.system.detect import detect
from memgauge.system.tree import MOST_BYTES, Tree

pytestmark = pytest.mark.native

DIGITS = re.compile(rb"[0-9]+")
CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "numbers of 5,000 digits": lambda text: DIGITS.sub(b"9" * 5000, text),
    "numbers beyond 64 bits": lambda text: DIGITS.sub(b"99999999999999999999", text),
    "digits that are none": lambda text: DIGITS.sub("²".encode(), text),
    "zeros": lambda text: DIGITS.sub(b"0", text),
    "negative numbers": lambda text: DIGITS.sub(b"-7", text),
    "words": lambda text: DIGITS.sub(b"x", text),
    "a list of all CPUs there can be": lambda _: b"0-65535",
    "a list of more": lambda _: b"0-99999999999",
    "nothing": lambda _: b"",
    "one byte": lambda _: b"\xff",
    "colons": lambda _: b":" * 3000,
    "many lines": lambda text: text * 50,
}
STEP = 1 if "MEMGAUGE_FUZZ_MUTANTS" in os.environ else 2


class Replaced:
    """Reads every file as it is, but for one."""

    def __init__(self) -> None:
        self.paths: dict[str, None] = {}
        self.path = ""
        self.change: Callable[[bytes], bytes] = bytes
        self._raw = Tree.raw

    def read(self, tree: Tree, path: str) -> bytes | None:
        found = self._raw(tree, path)
        if found is not None:
            self.paths[path] = None
        return self.change(found) if found is not None and path == self.path else found

    def each(self, what: Callable[[], object]) -> Iterator[str]:
        """What happens with each file replaced: failures alone."""
        what()
        for at, path in enumerate(first_of_each_kind(self.paths)):
            self.path = path
            for name in list(CHANGES)[at % STEP :: STEP]:
                self.change = CHANGES[name]
                try:
                    what()
                except MemgaugeError as error:
                    if "\n" in str(error) or len(str(error)) > 2000:
                        yield f"{path}: {name}: a message of {len(str(error))} characters"
                except Exception as error:  # noqa: BLE001 - any is a failure
                    yield f"{path}: {name}: {repr(error)[:200]}"


def first_of_each_kind(paths: Iterable[str]) -> list[str]:
    """Without those that differ from another in numbers alone, such as other CPUs' files."""
    return list(
        {re.sub(r"[0-9]+", "N", path): path for path in sorted(paths, reverse=True)}.values()
    )


@pytest.fixture
def replaced(monkeypatch: pytest.MonkeyPatch) -> Replaced:
    made = Replaced()

    def raw(tree: Tree, path: str) -> bytes | None:
        return made.read(tree, path)

    monkeypatch.setattr(Tree, "raw", raw)
    return made


@pytest.mark.parametrize("name", ["xeon", "with_cxl", "guest", "power9"])
def test_a_machine_is_detected_whatever_one_file_says(
    replaced: Replaced, tmp_path: Path, name: str
) -> None:
    trees.plant(tmp_path, getattr(trees, name)())
    failures = list(replaced.each(lambda: detect(tmp_path)))
    assert len(replaced.paths) > 20
    assert not failures, "\n".join(failures)


def hosts() -> dict[str, Callable[[Path], Host]]:
    small = {
        "hwmon": test_hwmon.GRACE,
        "resctrl": test_resctrl.MACHINE,
        "infiniband": test_infiniband.ADAPTERS,
    }
    made: dict[str, Callable[[Path], Host]] = {
        name: partial(small_files.plant, files=files) for name, files in small.items()
    }
    for build in (machines.ice_lake, machines.zen2, machines.power9, machines.rapl):
        made[build.__name__] = partial(planted, build=build)
    return made


def planted(root: Path, build: Callable[[Path], object]) -> Host:
    build(root)
    return Host(sysfs=root / "sys", procfs=root / "proc", architecture="x86_64")


@pytest.mark.parametrize("name", hosts())
def test_counters_are_listed_whatever_one_file_says(
    replaced: Replaced, tmp_path: Path, name: str
) -> None:
    host = hosts()[name](tmp_path)
    failures = list(replaced.each(lambda: states(host)))
    assert replaced.paths
    assert not failures, "\n".join(failures)


def test_what_is_no_file_of_the_kernel_reads_as_missing(tmp_path: Path) -> None:
    """A FIFO would hold the reader for ever, and a device or a sparse file never end."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "directory").mkdir()
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(30 << 30)
    (tmp_path / "whole").write_bytes(b"x" * MOST_BYTES)
    (tmp_path / "large").write_bytes(b"x" * (MOST_BYTES + 1))
    tree = Tree(tmp_path)
    found: list[bytes | None] = []
    names = ("fifo", "zero", "loop", "directory", "sparse", "large", "none", "a\0b", "x" * 5000)
    reader = threading.Thread(
        target=lambda: found.extend(tree.raw(f"/{name}") for name in names), daemon=True
    )
    reader.start()
    reader.join(60)
    assert found == [None] * len(names)
    assert tree.raw("/whole") == b"x" * MOST_BYTES
    assert tree.resolved("/loop") is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("9223372036854775807", (1 << 63) - 1),
        ("9223372036854775808", None),
        ("9" * 4000, None),
        ("9" * 5000, None),
        ("-1", -1),
    ],
)
def test_numbers_are_those_of_64_bits(tmp_path: Path, text: str, number: int | None) -> None:
    (tmp_path / "number").write_text(text, encoding="ascii")
    assert Tree(tmp_path).integer("/number") == number
    (tmp_path / f"cpu{text[:200]}").mkdir()
    assert Tree(tmp_path).numbered("/", "cpu") == []
