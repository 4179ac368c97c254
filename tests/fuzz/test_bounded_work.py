"""Files made to waste time and memory cost little more than small ones, whatever they claim.

Each is read by the command line in a child. What that may cost beyond the same command on a small
valid file is fixed, so that neither a slow machine nor a busy one fails these tests.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import msgspec
import pytest
from tests.fuzz.children import Done, run_memgauge
from tests.unit.analysis.cluster.nodes import manifest
from tests.unit.analysis.profile.runs import MS, Made, counter, every, profile, ran, reads, sampled
from tests.unit.model import build
from tests.unit.model.storage.lanes import column, header, raw_block

from memgauge.cluster.combined import write_manifest
from memgauge.model.counting.events import Counter
from memgauge.model.record_kinds.counters import CounterSet, Lane
from memgauge.model.record_kinds.programs import Process, Region
from memgauge.model.records import NOT_WATCHED, AnyRecord, RunEnd, RunStart, Warning
from memgauge.model.storage.codec import encode

MORE_CPU_S = 4.0
MORE_BYTES = 300 << 20
LONGEST_LINE = 700
LARGEST_TEXT = 100_000
LARGEST_PAGE = 4_000_000
"""Characters of a report in the terminal, and of a page with the libraries that draw it."""


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Done]:
    """What commands cost with small valid files."""
    directory = tmp_path_factory.mktemp("small")
    stamps = every(10 * MS, 1000 * MS)
    profile(directory, Made([reads(0)], sampled([lambda _: 1e6], [reads(0)], stamps)))
    known: dict[str, Done] = {}

    def cost(command: str) -> Done:
        if command not in known:
            name = "xeon-gold-6130" if command == "machines" else str(directory)
            known[command] = run_memgauge(command, name)
            assert known[command].code == 0, known[command].err
        return known[command]

    return cost


def assert_cheap(done: Done, usual: Done) -> None:
    assert done.cpu_s < usual.cpu_s + MORE_CPU_S
    assert done.peak_bytes < usual.peak_bytes + MORE_BYTES


def assert_refused(done: Done, why: str) -> None:
    """In one line that says why."""
    assert done.code in {1, 2}, done.err
    assert done.err.startswith("memgauge: ")
    assert done.err.count("\n") == 1
    assert len(done.err) < LONGEST_LINE
    assert why in done.err


def assert_shown(done: Done, directory: Path) -> None:
    """In a report of a size for people."""
    assert done.code == 0, done.err
    assert len(done.out) < LARGEST_TEXT
    assert (directory / "report.html").stat().st_size < LARGEST_PAGE


def sparse(path: Path, size_bytes: int = 30 << 30) -> None:
    """A file that takes no room, and claims to be large."""
    with path.open("wb") as file:
        file.truncate(size_bytes)


# Lanes


def lane_run(directory: Path, counters: Sequence[Counter], blocks: bytes) -> Path:
    slots = 1 + max(one.slot for one in counters)
    profile(directory, Made(list(counters), [[0] * (slots + 2)], slots=slots), process=ran(2.0))
    (directory / "fast.lane").write_bytes(header(slots + 2) + blocks)
    return directory


def tracks(count: int, **changes: object) -> list[Counter]:
    """Counters that are each a track of their own."""
    fields: dict[str, object] = {"quantity": "count", "domain": "energy"} | changes
    return [counter(f"perf:u/e{at}/@u_{at}", at, **fields) for at in range(count)]


def still(first: int, width: int = 0) -> bytes:
    return struct.pack("<BBq", width, 0, first)


def all_still(slots: int) -> bytes:
    """65,535 readings in 160 bytes, again and again: 332 kB of them took minutes."""
    blocks = (
        raw_block(65_535, still(at * 1000) * 2 + still(5) * slots)
        for at in range(332_000 // (16 + 10 * (slots + 2)))
    )
    return b"".join(blocks)


def rising(slots: int, readings: int, blocks: int) -> bytes:
    """Stamps of a byte each, and counters that stand still."""
    steps = b"\x64" * (readings - 1)
    return b"".join(
        raw_block(
            readings,
            (still(at * 100 * readings, 1) + steps) * 2 + still(5 + at) * slots,
        )
        for at in range(blocks)
    )


LANES: dict[str, tuple[Sequence[Counter], bytes]] = {
    "no stamp moves": ([reads(0)], all_still(1)),
    "no stamp moves, many columns": (tracks(12), all_still(12)),
    "counters stand still": (tracks(40), rising(40, 20_000, 8)),
    "counters of one track stand still": ([reads(at) for at in range(500)], rising(500, 2000, 30)),
    "levels stand still": (tracks(40, gauge=True, unit="W"), rising(40, 20_000, 8)),
    "too many values": (tracks(200), rising(200, 65_535, 2)),
    "blocks that hold nothing": ([reads(0)], raw_block(1, b"") * 20_000),
    "blocks of one reading": (
        [reads(0)],
        b"".join(raw_block(1, column([at]) * 2 + column([7])) for at in range(7000)),
    ),
}


@pytest.mark.parametrize("name", LANES)
@pytest.mark.parametrize("command", ["report", "export"])
def test_a_lane_costs_what_its_bytes_are_worth(
    tmp_path: Path, usual: Callable[[str], Done], name: str, command: str
) -> None:
    counters, blocks = LANES[name]
    assert len(blocks) < 400_000
    done = run_memgauge(command, str(lane_run(tmp_path, counters, blocks)))
    assert done.code == 0, done.err
    assert_cheap(done, usual(command))
    if command == "report":
        assert_shown(done, tmp_path)


# Records


def records_run(directory: Path, *records: AnyRecord | bytes, profiled: bool = False) -> Path:
    start = build.start()
    if profiled:
        start = msgspec.structs.replace(start, experiments=["profile"], parameters={})
    lines = [one if isinstance(one, bytes) else encode(one) for one in records]
    end = [encode(RunEnd(status="complete", elapsed_s=1.0, rounds=0))]
    (directory / "records.jsonl").write_bytes(b"".join([encode(start), *lines, *end]))
    return directory


def point_lines() -> Iterator[AnyRecord]:
    """Points of a latency, each with a sample."""
    for number in range(3000):
        point = msgspec.structs.replace(build.dram(), point=f"latency/{number}")
        yield point
        yield build.sample(point, 0)


MEGABYTES = "word " * 1_000_000
RECORDS: dict[str, Callable[[], Iterator[AnyRecord]]] = {
    "a warning of megabytes": lambda: iter(
        [Warning(code="x", message=MEGABYTES, remedy=MEGABYTES, experiment="stream")]
    ),
    "a word of a command of megabytes": lambda: iter(
        [msgspec.structs.replace(ran(1.0), command=["a", "x" * 9_000_000])]
    ),
    "many warnings": lambda: (
        Warning(code=NOT_WATCHED, message=f"m{at}", remedy="r", experiment=f"e{at}")
        for at in range(20_000)
    ),
    "many processes": lambda: (msgspec.structs.replace(ran(1.0), pid=at) for at in range(20_000)),
    "one process often": lambda: (ran(1.0) for _ in range(20_000)),
    "many regions": lambda: (
        Region(name=f"r{at}", pid=1, tid=1, begin_ns=at, end_ns=at + 5) for at in range(20_000)
    ),
    "many sets of counters": lambda: (
        CounterSet(counters=f"c{at}", slots=1, of=[reads(0)], notes=[f"note {at}"])
        for at in range(3000)
    ),
    "a set of many counters": lambda: iter(
        [
            CounterSet(
                counters="c", slots=5000, of=tracks(5000), notes=[f"n{n}" for n in range(5000)]
            )
        ]
    ),
    "many resumptions": lambda: chain.from_iterable(
        (RunEnd(status="complete", elapsed_s=1.0, rounds=0), build.start(resumed=True))
        for _ in range(1000)
    ),
    "many points": point_lines,
}


@pytest.mark.parametrize(
    ("name", "profiled"),
    [
        (name, profiled)
        for profiled in (False, True)
        for name in RECORDS
        if not profiled or name not in {"many resumptions", "many points"}  # of no profile
    ],
)
def test_records_cost_what_their_bytes_are_worth(
    tmp_path: Path, usual: Callable[[str], Done], name: str, *, profiled: bool
) -> None:
    done = run_memgauge("report", str(records_run(tmp_path, *RECORDS[name](), profiled=profiled)))
    assert_shown(done, tmp_path)
    assert_cheap(done, usual("report"))


def test_what_is_left_out_of_a_long_text_is_said(tmp_path: Path) -> None:
    run = records_run(tmp_path, *RECORDS["a warning of megabytes"]())
    done = run_memgauge("report", str(run))
    assert "more characters are left out" in " ".join(done.out.split())


def start_line(**changes: object) -> bytes:
    return msgspec.json.encode(msgspec.to_builtins(build.start()) | changes) + b"\n"


def with_number(line: bytes, digits: int) -> bytes:
    return line.replace(b'"format_version":2', b'"format_version":1' + b"0" * digits)


LINES: dict[str, tuple[Callable[[], bytes], str]] = {
    "version": (lambda: with_number(start_line(), 400), "format version 10000000000000000..."),
    "digits": (lambda: with_number(start_line(), 400_000), "is not the record that starts a run"),
    "version in words": (
        lambda: start_line(memgauge_version="9" * 5000, format_version=3),
        "written by memgauge 99",
    ),
    "brackets": (
        lambda: b'{"kind":"run","system":' + b"[" * 100_000 + b"\n",
        "is not the record that starts a run",
    ),
    "braces": (
        lambda: b'{"kind":"run","system":' + b'{"a":' * 100_000 + b"\n",
        "is not the record that starts a run",
    ),
    "kind": (lambda: start_line() + b'{"kind":"' + b"x" * 9_000_000 + b'"}\n', "corrupt: line 2"),
    "brackets later": (
        lambda: start_line() + b'{"kind":"warning","x":' + b"[" * 9_000_000 + b"\n",
        "corrupt: line 2",
    ),
    "spaces": (
        lambda: start_line() + b'{"kind":"warning","x":1' + b" " * (17 << 20) + b"\n",
        "corrupt: line 2: longer than any record of its kind",
    ),
    "zeros": (lambda: b"\0" * (65 << 20), "line 1: longer than any record of its kind"),
}


@pytest.mark.parametrize("name", LINES)
def test_records_that_are_none_are_refused(
    tmp_path: Path, usual: Callable[[str], Done], name: str
) -> None:
    make, why = LINES[name]
    (tmp_path / "records.jsonl").write_bytes(make())
    done = run_memgauge("report", str(tmp_path))
    assert_refused(done, why)
    assert_cheap(done, usual("report"))


@pytest.mark.parametrize("size_bytes", [3 << 30, 30 << 30])
@pytest.mark.parametrize("command", ["report", "export", "figures"])
def test_sparse_records_are_refused(
    tmp_path: Path, usual: Callable[[str], Done], size_bytes: int, command: str
) -> None:
    sparse(tmp_path / "records.jsonl", size_bytes)
    done = run_memgauge(command, str(tmp_path))
    assert_refused(done, "larger than" if size_bytes > 4 << 30 else "longer than any record")
    assert_cheap(done, usual("report"))


def test_one_file_is_the_lane_of_one_set_only(tmp_path: Path) -> None:
    """A thousand lanes of one file would cost a thousand times its bytes."""
    made = CounterSet(counters="c", slots=1, of=[reads(0)])
    lane = Lane(counters="c", file="c.lane", interval_ns=MS)
    done = run_memgauge("report", str(records_run(tmp_path, made, lane, lane, profiled=True)))
    assert_refused(done, "names the file 'c.lane' of another lane")
    lanes = [msgspec.structs.replace(lane, file=f"{at}.lane") for at in range(65)]
    done = run_memgauge("report", str(records_run(tmp_path, made, *lanes, profiled=True)))
    assert_refused(done, "is a lane beyond the limit of 64 per run")


def test_marks_of_any_size_are_left_out(tmp_path: Path, usual: Callable[[str], Done]) -> None:
    start = msgspec.structs.replace(build.start(), experiments=["profile"], parameters={})
    lines: list[RunStart | Process] = [start, ran(None)]
    (tmp_path / "records.jsonl").write_bytes(b"".join(map(encode, lines)))
    sparse(tmp_path / "marks.txt")
    done = run_memgauge("report", str(tmp_path))
    assert_shown(done, tmp_path)
    assert_cheap(done, usual("report"))


# Combined runs


def write_cluster(directory: Path, **changes: object) -> Path:
    write_manifest(directory, msgspec.structs.replace(manifest(["one"]), **changes))
    return directory


def text_of(directory: Path) -> bytes:
    write_cluster(directory)
    return (directory / "cluster.json").read_bytes()


CLUSTERS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "nested": (lambda _: b'{"nodes":' + b"[" * 100_000, "does not describe a combined run"),
    "version": (
        lambda text: text.replace(b'"format_version": 1', b'"format_version": 1' + b"0" * 400),
        "written by a later memgauge, in format version 10000000000000000..., and this memgauge",
    ),
    "digits": (
        lambda text: text.replace(b'"ranks": 1', b'"ranks": 1' + b"0" * 5000),
        "does not describe a combined run",
    ),
    "name": (
        lambda text: text.replace(b'"one"', b'"' + b"n" * 256 + b'"'),
        "names of nodes are not usable",
    ),
}


@pytest.mark.parametrize("name", CLUSTERS)
def test_manifests_that_are_none_are_refused(
    tmp_path: Path, usual: Callable[[str], Done], name: str
) -> None:
    change, why = CLUSTERS[name]
    text = text_of(tmp_path)
    changed = change(text)
    assert changed != text
    (tmp_path / "cluster.json").write_bytes(changed)
    done = run_memgauge("report", str(tmp_path))
    assert_refused(done, why)
    assert_cheap(done, usual("report"))


def test_a_sparse_manifest_is_refused(tmp_path: Path, usual: Callable[[str], Done]) -> None:
    sparse(tmp_path / "cluster.json")
    done = run_memgauge("report", str(tmp_path))
    assert_refused(done, "larger than 16 MiB")
    assert_cheap(done, usual("report"))


@pytest.mark.parametrize("name", ["figures.json", "records.jsonl", "one.log"])
def test_a_node_s_sparse_file_leaves_the_others(
    tmp_path: Path, usual: Callable[[str], Done], name: str
) -> None:
    made = manifest(["one"])
    nodes = [msgspec.structs.replace(node, state="cut short") for node in made.nodes]
    write_cluster(tmp_path, nodes=nodes)
    place = tmp_path / ("logs" if name == "one.log" else "nodes/one")
    place.mkdir(parents=True)
    sparse(place / name)
    done = run_memgauge("report", str(tmp_path))
    assert_shown(done, tmp_path)
    assert_cheap(done, usual("report"))


# Machines


MACHINES = {
    "brackets": (b"a = " + b"[" * 50_000, "nested too deeply"),
    "braces": (b"a = " + b"{a = " * 10_000, "nested too deeply"),
    "digits": (b"a = " + b"9" * 5000, "thousands of digits"),
    "parts of a key": (b".".join([b"a"] * 20_000) + b" = 1", "line 1 holds 19999 dots"),
    "parts of a table": (b"[" + b".".join([b"a"] * 20_000) + b"]", "line 1 holds 19999 dots"),
    "parts in a table": (b"a = {" + b".".join([b"a"] * 20_000) + b" = 1}", "holds 19999 dots"),
    "a long key": (b"k" * 40_000 + b" = 1", "there is no key kkkk"),
    "a long word": (b'name = "' + b"\\u0007" * 9000 + b'"', "title is missing"),
    "no text": (b"\xff" * 1000, "is not UTF-8"),
    "large": (b"#" * 100_000, "larger than 64 KiB"),
}


@pytest.mark.native
@pytest.mark.parametrize("name", MACHINES)
def test_machines_that_are_none_are_refused(
    tmp_path: Path, usual: Callable[[str], Done], name: str
) -> None:
    text, why = MACHINES[name]
    path = tmp_path / "machine.toml"
    path.write_bytes(text)
    done = run_memgauge("machines", str(path))
    assert_refused(done, why)
    assert_cheap(done, usual("machines"))


@pytest.mark.native
def test_a_machine_is_a_regular_file(tmp_path: Path, usual: Callable[[str], Done]) -> None:
    os.mkfifo(tmp_path / "fifo.toml")
    sparse(tmp_path / "sparse.toml")
    for path, why in (
        (Path("/dev/zero"), "it is a device, not a regular file"),
        (tmp_path / "fifo.toml", "it is a FIFO, not a regular file"),
        (tmp_path / "sparse.toml", "larger than 64 KiB"),
        (tmp_path, "it is a directory, not a regular file"),
        (tmp_path / ("n" * 300 + ".toml"), "File name too long"),
    ):
        done = run_memgauge(
            "traffic", "copy", "--machine", f"{path}/" * (path == tmp_path) or str(path)
        )
        assert_refused(done, why)
        assert_cheap(done, usual("machines"))
