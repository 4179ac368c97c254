"""Files of other tools over time."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, date, datetime
from pathlib import Path
from typing import BinaryIO

import pytest
from tests.samples.paths import TOOL_SAMPLES

from memgauge import api
from memgauge.analysis.section import Report
from memgauge.model.errors import RequestError
from memgauge.model.storage.files import open_file
from memgauge.references.foreign import files
from memgauge.store import sources
from memgauge.store.sources import places_of
from memgauge.store.tool_files import dated, written_at

NIGHTS = 16


@pytest.fixture
def nights(tmp_path: Path) -> Path:
    """STREAM every night, slower by a fifth in the second half; a letter lies beside the files."""
    usual = (TOOL_SAMPLES / "stream.txt").read_text(encoding="utf-8")
    place = tmp_path / "fleet" / "node1"
    place.mkdir(parents=True)
    for at in range(NIGHTS):
        factor = (0.8 if at >= NIGHTS // 2 else 1.0) * (1 + 0.002 * (at % 3))
        lines = []
        for line in usual.splitlines():
            cells = line.split()
            if line[:5] in {"Copy:", "Scale", "Add: ", "Triad"} and len(cells) == 5:
                rate = float(cells[1])
                line = line.replace(cells[1], f"{rate * factor:.1f}")  # noqa: PLW2901
            lines.append(line)
        (place / f"stream-2026-10-{at + 1:02}.txt").write_text("\n".join(lines), encoding="utf-8")
    (place / "letter").write_text("Dear all,\n", encoding="utf-8")
    return tmp_path / "fleet"


def texts(report: Report) -> list[str]:
    verdicts = [*report.verdicts, *(v for section in report.sections for v in section.verdicts)]
    return [one.text for one in verdicts]


def test_a_change_is_found_in_nightly_files(nights: Path) -> None:
    found = api.trend(nights)
    (history,) = found.trend.histories
    assert (history.machine, len(history.runs), len(history.eras)) == ("node1", NIGHTS, 1)
    changed = {one.change.key[0] for one in found.trend.changes}
    assert changed == {key[0] for key in history.tracks}
    assert all(0.75 < one.change.total.value < 0.85 for one in found.trend.changes)
    assert all(one.until.date() <= date(2026, 10, 11) for one in found.trend.changes)
    said = texts(found.report)
    assert any(f"The times of {NIGHTS} files of other tools are the dates" in one for one in said)


def test_copies_count_once_and_single_files_are_of_this_machine(nights: Path) -> None:
    first = nights / "node1" / "stream-2026-10-01.txt"
    (nights / "copy").mkdir()
    shutil.copy(first, nights / "copy")
    found = api.trend(first, nights / "copy" / first.name)
    (history,) = found.trend.histories
    assert (history.machine, len(history.runs)) == ("this machine", 1)


def test_stores_keep_runs_only(nights: Path, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="was written by another tool, and a store keeps runs"):
        api.add_to_store(tmp_path / "store", nights)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("stream-2026-11-28.txt", datetime(2026, 11, 28, tzinfo=UTC)),
        ("20261128T0315.out", datetime(2026, 11, 28, 3, 15, tzinfo=UTC)),
        ("a_2026-11-28_03-15-59.log", datetime(2026, 11, 28, 3, 15, 59, tzinfo=UTC)),
        ("slurm-202611281.out", None),
        ("2026-19-39.txt", None),
        ("stream.txt", None),
    ],
)
def test_the_time_of_a_file_is_the_date_in_its_name(name: str, expected: datetime | None) -> None:
    assert dated(name) == expected


def test_a_file_without_a_date_has_the_time_of_its_last_change(tmp_path: Path) -> None:
    path = tmp_path / "stream.txt"
    shutil.copy(TOOL_SAMPLES / "stream.txt", path)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    assert written_at(path) == datetime.fromtimestamp(1_700_000_000, UTC)
    said = texts(api.trend(path).report)
    assert any("last modified, which copying may change" in one for one in said)


def test_a_search_opens_regular_files_alone_and_reads_their_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def noted(path: Path, limit_bytes: int) -> BinaryIO:
        opened.append(path.name)
        return open_file(path, limit_bytes)

    monkeypatch.setattr(files, "open_file", noted)
    output = (TOOL_SAMPLES / "stream.txt").read_bytes()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / "binary").write_bytes(b"\x7fELF\0\n" + output)
    (tmp_path / "late").write_bytes(b"\n" * files.LOOKED_AT_BYTES + output)
    (tmp_path / "stream.txt").write_bytes(output)
    assert [one.path.name for one in places_of(tmp_path)] == ["stream.txt"]
    assert opened == ["binary", "late", "stream.txt"]


def test_file_systems_of_the_kernel_are_not_entered(
    nights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(places_of(nights)) == NIGHTS
    monkeypatch.setattr(sources, "NOT_ENTERED", frozenset({str(nights / "node1")}))
    assert places_of(nights) == []
