"""A profile: its records, the files of its lanes and its program's marks, in one archive.

The check sums of lanes are put right before they are read, since no fuzzer guesses them; a lane
whose name ends in `.raw` is left as it is.
"""

from __future__ import annotations

import struct
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.archive import packed, parts_of
from tests.fuzz.invariants import check_refusal, use_run, use_timeline
from tests.fuzz.planted import scratch
from tests.unit.analysis.profile import runs as profiles
from tests.unit.analysis.profile.runs import MS

from memgauge.model.errors import RunFileError
from memgauge.model.record_kinds.programs import Region
from memgauge.model.run import Run
from memgauge.model.storage.lane_file import LaneReader
from memgauge.model.storage.marks import MARKS_NAME, regions_of
from memgauge.model.storage.run_reader import RECORDS_NAME, read_run
from memgauge.model.text import plain

IS_JSON = True
_RAW = ".raw"
_HEADER_BYTES = 16
_BLOCK = struct.Struct("<IIII")
MARKS = b"B 1000000 77 77 solve\nB 2000000 77 78 io\nE 9000000 77 77 solve\n"


def seeds() -> Iterator[bytes]:
    """A profile that ended and one that was killed, with a lane and marks, and one without."""
    for killed in (False, True):
        with tempfile.TemporaryDirectory() as made:
            directory = Path(made)
            _profile(directory, killed=killed)
            files = {path.name: path.read_bytes() for path in sorted(directory.iterdir())}
        yield packed([*files.items(), (MARKS_NAME, MARKS)])
        yield packed([(RECORDS_NAME, files[RECORDS_NAME])])


def run(data: bytes) -> None:
    """Read a profile, and use what comes out."""
    parts = dict(parts_of(data))
    files = {
        name.removesuffix(_RAW): content if name.endswith(_RAW) else _with_sums(name, content)
        for name, content in parts.items()
    }
    place = scratch("profile")
    place.plant({name: content for name, content in files.items() if "/" not in name})
    _use_marks(files.get(MARKS_NAME, b""))
    try:
        found = read_run(place.root)
    except RunFileError as error:
        check_refusal(error)
        return
    use_run(found, data)
    use_timeline(found, data)
    _read_lanes(found)


def _use_marks(text: bytes) -> None:
    marks = regions_of(text.splitlines(keepends=True), lambda stamp_ns: stamp_ns - 1000)
    for region in marks.regions:
        assert plain(region.name) == region.name
        assert region.begin_ns >= 0
    for warning in marks.warnings:
        assert plain(warning.message) == warning.message


def _read_lanes(found: Run) -> None:
    """Every column of every block that is given."""
    for lane in found.lanes:
        try:
            reader = LaneReader(found.directory / lane.file, found.counters[lane.counters].slots)
            for block in reader.blocks():
                for column in range(block.columns):
                    _check_column(block.values(column), block.present(column), block.samples)
            assert all(plain(note) == note for note in reader.notes)
        except RunFileError as error:
            check_refusal(error)


def _check_column(values: object, present: list[bool] | None, samples: int) -> None:
    assert len(values) == samples  # type: ignore[arg-type]
    assert present is None or len(present) == samples


def _with_sums(name: str, content: bytes) -> bytes:
    """The blocks of a lane with the check sums of what they hold."""
    if not name.endswith(".lane"):
        return content
    made = bytearray(content)
    at = _HEADER_BYTES
    while at + _BLOCK.size <= len(made):
        magic, samples, size, _ = _BLOCK.unpack_from(made, at)
        payload = bytes(made[at + _BLOCK.size : at + _BLOCK.size + size])
        _BLOCK.pack_into(made, at, magic, samples, size, zlib.crc32(payload))
        at += _BLOCK.size + size
    return bytes(made)


def _profile(directory: Path, *, killed: bool) -> None:
    counters = [profiles.reads(0), profiles.writes(1), profiles.energy(2)]
    rates = [profiles.steps((0.05, 1e6), (1.0, 4e6)), lambda _: 2e6, lambda _: 5e7]
    samples = profiles.sampled(rates, counters, profiles.every(10 * MS, 120 * MS))
    profiles.profile(
        directory,
        profiles.Made(counters, samples),
        regions=[Region(name="solve", pid=77, tid=77, begin_ns=20 * MS, end_ns=80 * MS)],
        process=profiles.ran(0.12),
        killed=killed,
    )
