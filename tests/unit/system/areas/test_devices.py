"""Devices of byte-addressable memory: what may be written to, and what is left on them.

A file stands in for the device where only mapping matters.
"""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest
from tests.unit.system.owners import DEAD

from memgauge.model.errors import RequestError
from memgauge.system.areas import devices as area_devices
from memgauge.system.areas import journal as area_journal
from memgauge.system.areas.devices import Facts
from memgauge.system.areas.mark import MARK_BYTES, Mark, decode, encode, marked_by_us

MIB = 1 << 20
SIZE = 16 * MIB
PAGE = 2 * MIB

pytestmark = pytest.mark.native


@pytest.fixture
def device(state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    del state
    monkeypatch.setattr(area_devices, "facts_of", lambda *_: Facts(SIZE, PAGE, 2))
    monkeypatch.setattr(area_devices, "_SMALLEST_SLACK_BYTES", 0)
    monkeypatch.setattr(area_devices, "_SLACK_PAGES", 1)
    path = tmp_path / "dax0.0"
    with path.open("wb") as file:
        file.truncate(SIZE)
    return path


def put(device: Path, offset: int, data: bytes) -> None:
    with device.open("r+b") as file:
        file.seek(offset)
        file.write(data)


def at(device: Path, offset: int, size: int) -> bytes:
    with device.open("rb") as file:
        file.seek(offset)
        return file.read(size)


def mark_of(device: Path) -> Mark | None:
    return decode(at(device, 0, MARK_BYTES), str(device))


def is_blank(device: Path) -> bool:
    return device.read_bytes() == bytes(SIZE)


def use(device: Path, size: int = 4 * MIB, *, keep: bool = False, overwrite: bool = False) -> int:
    """Write to all that may be used; how much that was."""
    with area_devices.opened(str(device), size, keep=keep, overwrite=overwrite) as opened:
        assert (opened.page_bytes, opened.node) == (PAGE, 2)
        put(device, PAGE, b"x" * (opened.bytes - PAGE))
        return opened.bytes


def refused(device: Path, size: int = 4 * MIB) -> str:
    before = device.read_bytes()
    with (
        pytest.raises(RequestError) as caught,
        area_devices.opened(str(device), size, keep=False, overwrite=False),
    ):
        pytest.fail("it was opened")
    assert device.read_bytes() == before, "it was written to"
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_blank_device_is_used_and_blank_again(device: Path) -> None:
    assert use(device) >= PAGE + 4 * MIB
    assert is_blank(device)
    assert area_journal.entries() == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, RequestError])
def test_it_is_blank_however_the_run_ends(error: type[BaseException], device: Path) -> None:
    context = area_devices.opened(str(device), 4 * MIB, keep=False, overwrite=False)
    context.__enter__()
    put(device, PAGE, b"x" * MIB)
    raised = error("the run")
    assert not context.__exit__(error, raised, None), "the error was swallowed"
    assert is_blank(device)


def test_what_is_kept_is_used_again(device: Path) -> None:
    used = use(device, keep=True)
    mark = mark_of(device)
    assert mark == marked_by_us(used, kept=True)
    assert use(device) == used
    assert mark_of(device) == mark
    (entry,) = area_journal.entries()
    assert (entry.kind, entry.kept) == ("devdax", True)


@pytest.mark.parametrize("offset", [0, 1, MARK_BYTES, PAGE - 1, PAGE, PAGE + 4 * MIB - 1])
def test_data_of_others_is_refused_wherever_it_lies(offset: int, device: Path) -> None:
    put(device, offset, b"\1")
    said = refused(device)
    assert (
        f"from byte {offset // PAGE * PAGE}; name another device, or allow overwriting it with "
        "--overwrite" in said
    )


def test_data_beyond_what_is_used_does_not_matter_and_stays(device: Path) -> None:
    put(device, SIZE - 3, b"abc")
    assert use(device, MIB) < SIZE - 3
    assert at(device, SIZE - 3, 3) == b"abc"


def test_data_beyond_what_the_mark_covers_is_that_of_others(device: Path) -> None:
    used = use(device, MIB, keep=True)
    put(device, used, b"\1")
    assert "holds data that memgauge did not write" in refused(device, used)
    assert use(device, MIB) == used


def test_overwriting_is_allowed_when_asked_for(device: Path) -> None:
    put(device, 0, b"precious" * 1000)
    use(device, overwrite=True)
    assert is_blank(device)


def test_what_is_too_small_is_said_with_sizes(device: Path) -> None:
    said = refused(device, SIZE)
    assert "16 MiB are requested, but it has 16 MiB in pages of 2 MiB" in said


def test_two_runs_do_not_share_a_device(device: Path) -> None:
    with device.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert "is in use by another run" in refused(device)


def killed(device: Path) -> None:
    mark = Mark(owner=DEAD, kept=False, bytes=8 * MIB)
    put(device, 0, encode(mark) + b"x" * (8 * MIB - MARK_BYTES))


def test_what_a_killed_run_left_is_used_again_or_cleaned(device: Path) -> None:
    killed(device)
    use(device)
    assert is_blank(device)
    killed(device)
    put(device, 8 * MIB, b"precious")
    cleaned = area_devices.cleaned(str(device))
    assert cleaned.line == f"{device}: its first 8 MiB, which a killed run left, are zeros"
    assert cleaned.forget
    assert at(device, 8 * MIB, 8) == b"precious"
    put(device, 8 * MIB, bytes(8))
    assert is_blank(device)


def test_cleaning_leaves_what_is_kept_or_of_others(device: Path) -> None:
    use(device, keep=True)
    before = device.read_bytes()
    assert (area_devices.cleaned(str(device)).line or "").startswith(f"{device}: kept on purpose")
    assert device.read_bytes() == before
    put(device, 0, b"precious")
    cleaned = area_devices.cleaned(str(device))
    assert "not created by memgauge" in (cleaned.line or "")
    assert cleaned.forget
    assert at(device, 0, 8) == b"precious"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/dev/dax99.9", "no such file or directory; memory devices have the form /dev/daxN.M"),
        ("/dev/null", "is not a device of byte-addressable memory"),
        ("/dev", "is not a device of byte-addressable memory"),
        ("/dev/null/x", "not a directory"),
        ("nul\0", "embedded null byte"),
    ],
)
def test_what_is_no_such_device_is_one_line(path: str, said: str) -> None:
    with (
        pytest.raises(RequestError, match=said),
        area_devices.opened(path, MIB, keep=False, overwrite=True),
    ):
        pytest.fail("it was opened")
