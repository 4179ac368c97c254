"""Every command answers under limits, without rights, on a full disk and in old locales.

By default a choice that takes a minute or two; MEMGAUGE_HOSTILE_SETTINGS=all takes every command in
every setting, as `python -m tests.integration.hostile.hostile_settings` does, which prints a table.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from tests.integration.hostile.hostile_settings import COMMANDS, SETTINGS, Machine, lacking, machine

pytestmark = pytest.mark.native

FEW = ("stream", "report", "system", "export --output")
"""One that measures, one that draws, one that looks at the machine, one that writes."""
LIMITED = ("stream", "report", "figures")
CHOSEN: dict[str, tuple[str, ...]] = {
    "another user": tuple(
        name
        for name, arguments in COMMANDS.items()
        if "--budget" not in arguments and "mpirun" not in name
    ),
    "read-only home": ("stream, no --output", *FEW),
    "full disk": FEW,
    "ulimit -n 8": FEW,
    "ulimit -u 1": ("fft3d", "export parquet", *LIMITED),
    "ulimit -v 500000": LIMITED,
    "ulimit -f 8": ("stream", "report", "simulate"),
    "ulimit -t 2": ("workingset",),
    "TMPDIR missing": ("stream", "simulate"),
    "HOME unset": ("stream", "report"),
    "XDG not writable": ("stream", "report"),
    "directory deleted": ("stream, no --output", "report"),
    "latin-1": ("report --format html", "system"),
    "LANG=C": ("stream", "compare"),
}


def pairs() -> list[tuple[str, str]]:
    """Settings and commands that are tried."""
    if os.environ.get("MEMGAUGE_HOSTILE_SETTINGS") == "all":
        return [(setting, name) for setting in SETTINGS for name in COMMANDS]
    return [(setting, name) for setting, names in CHOSEN.items() for name in names]


@pytest.fixture(scope="module")
def place() -> Iterator[Machine]:
    """Directories of another user, with one recorded run that all share."""
    reason = lacking()
    if reason is not None:
        pytest.skip(reason)
    with machine() as made:
        if made is None:
            pytest.skip("no Python that another user may run finds memgauge")
        yield made


@pytest.mark.parametrize(("setting", "name"), pairs())
def test_a_command_answers(setting: str, name: str, place: Machine) -> None:
    answer = place.answer(SETTINGS[setting], name)
    assert answer.fault is None, (answer.code, answer.errors)


def test_reasons_are_the_right_ones(place: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of limits that could be taken for others."""
    # Long enough for two seconds of processor time on a busy machine.
    endless = COMMANDS["workingset"].replace(
        "--budget 1s", "--budget 60s --precision 0.1% --largest-bytes 64MiB"
    )
    monkeypatch.setitem(COMMANDS, "workingset", endless)
    expected = {
        ("ulimit -u 1", "stream"): "ulimit -u, now 1",
        ("ulimit -v 500000", "figures"): "address space 500000 (ulimit -v)",
        ("ulimit -n 8", "figures"): "open files 8 (ulimit -n)",
        ("ulimit -f 8", "simulate"): "File too large; set TMPDIR",
        ("TMPDIR missing", "simulate"): "TMPDIR=/nonexistent/place: no file of 64 KiB",
        ("ulimit -t 2", "workingset"): "ended by SIGXCPU",
        ("full disk", "stream"): "No space left on device",
        ("read-only home", "stream, no --output"): "Read-only file system",
    }
    for (setting, name), words in expected.items():
        answer = place.answer(SETTINGS[setting], name)
        assert answer.code, (setting, name)
        assert words in answer.last_line, (setting, name, answer.errors)
