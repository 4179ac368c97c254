"""What other programs print, and what memgauge itself keeps between runs; parts of an archive."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from unittest.mock import patch

import msgspec
from benchmarks.loaded import measured
from benchmarks.peers import PEERS, Figures
from benchmarks.profile import total_time_s
from tests.fuzz.archive import packed, parts_of
from tests.fuzz.invariants import check_refusal
from tests.fuzz.planted import scratch

from memgauge import _core
from memgauge.counters import verdicts
from memgauge.experiments.shared.cache_machines import cache_model
from memgauge.machines.library import load
from memgauge.model.errors import RequestError
from memgauge.model.text import plain
from memgauge.simulation.callgrind import totals_of
from memgauge.simulation.callgrind_places import MOST_PLACES, lines_by_place, places_of
from memgauge.simulation.lackey import _remarks, records_of
from memgauge.system import earlier_runs
from memgauge.system.areas import journal as area_journal
from memgauge.system.areas import mark as area_mark
from memgauge.system.environment.data_sheet import parse_module
from memgauge.system.memory import reservation
from memgauge.system.owner import Owner
from memgauge.system.tiers.pmem import parse_mount
from memgauge.system.tree import Tree

IS_JSON = True
_STREAM = b"""Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           25614.4     0.006256     0.006247     0.006275
Triad:          27123.9     0.008862     0.008848     0.008890
"""
_MULTILOAD = b"1, 2, 3, 81.3, 5, 6, 7, 8, 9000.5, 10\n"
_PMBW = b"RESULT\tbandwidth=12345678.9\trate=1\nMByte/s: 1234.5\nTriad 123.4 0.1 0.2\n"
_CALLGRIND = (
    b"version: 1\nevents: Ir DLmr DLmw ILmr DLdmr\nob=(1) a\nfl=(1) a.c\nfn=(1) main\n12 3 4\n"
    b"cfn=(2) f\ncalls=1 5\n12 9 9\nfi=(2) b.h\n13 1 1\ntotals: 100 20 10\n"
)
_LACKEY = b" L 1ffeffe7e0,8\n S 04222c90,4\n M 0421c7cc,4\nI  0400d7d4,3\n==12== end\n"
_EARLIER = (
    b'{"format":1,"host":"h","machine_id":"m","cpu_model":"c","runs":[{"made_as":"d","run":'
    b'{"run_id":"r","started_at":"2026","figures":{"best bandwidth":3.5}}}]}'
)
_PLACE = verdicts.Place(machine="m", kernel="k")


def seeds() -> Iterator[bytes]:
    """Each as its program writes it."""
    owner = Owner(pid=1, boot_id="b", start_ticks=2)
    mark = area_mark.encode(area_mark.Mark(owner=owner, kept=True, bytes=4096)).rstrip(b"\0")
    entry = area_journal.Entry(kind="file", path="/mnt/a", host="h", owner=owner, kept=False)
    yield packed([("peer", _STREAM)])
    yield packed([("peer", _MULTILOAD + _PMBW)])
    yield packed([("peer", b"    total time:                          10.0012s\n")])
    yield packed([("callgrind", _CALLGRIND), ("lackey", _LACKEY)])
    yield packed([("mark", mark), ("journal", msgspec.json.encode(entry))])
    yield packed([("pages", b'{"pid":1,"boot_id":"","page_bytes":2097152,"before":0,"wanted":2}')])
    yield packed([("earlier", _EARLIER)])
    yield packed([("verdicts", b'{"format":1,"machine":"m","kernel":"k","verdicts":[]}')])
    yield packed(
        [("mount", b"40 24 259:0 / /mnt/p\\040q rw,relatime - ext4 /dev/pmem0 rw,dax=always")]
    )
    yield packed([("module", bytes([17, 34, 8, 1, 3]) + b"\1\2" * 20 + b"DIMM A1\0Maker\0\0")])


def run(data: bytes) -> None:
    """Each part through its reader."""
    for name, content in parts_of(data)[:8]:
        read = READERS.get(name)
        if read is not None:
            read(content)


def _peer(content: bytes) -> None:
    """Every figure is a number above zero, whatever a peer prints."""
    text = content.decode("utf-8", "replace")
    for reader in _peer_readers():
        assert all(math.isfinite(rate) and rate > 0 for rate in reader(text).values())
    point = measured(text)
    assert point is None or all(math.isfinite(one) and one > 0 for one in point)
    total_s = total_time_s(text)
    assert total_s is None or (math.isfinite(total_s) and total_s > 0)


@cache
def _peer_readers() -> list[Callable[[str], Figures]]:
    return [call.read for peer in PEERS for call in peer.calls(2, 1 << 20)]


def _callgrind(content: bytes) -> None:
    text = content.decode("utf-8", "replace")
    totals = totals_of(text)
    assert totals is None or all(count >= 0 for count in totals.values())
    found = places_of([lines_by_place(text.splitlines(), "line")], 64)
    assert len(found.kept) <= MOST_PLACES
    assert all(one.read_bytes + one.write_bytes > 0 for one in found.kept)


def _lackey(content: bytes) -> None:
    records = records_of(content)
    assert len(records) % 2 == 0
    _remarks(content)
    try:
        _model().trace(records)
    except RequestError as error:
        check_refusal(error)


def _model() -> _core.CacheModel:
    return cache_model(load("power9-5mb"))


def _mark(content: bytes) -> None:
    try:
        area_mark.decode(content, "the file")
    except RequestError as error:
        check_refusal(error)


def _module(content: bytes) -> None:
    parse_module(content)


def _mount(content: bytes) -> None:
    for line in content.decode("utf-8", "replace").splitlines():
        parse_mount(line)


def _kept(path: str, content: bytes, use: Callable[[], object]) -> None:
    """With a file below the state directory of this user."""
    place = scratch("state")
    place.plant({f"memgauge/{path}": content})
    with patch.dict(os.environ, {"XDG_STATE_HOME": str(place.root)}):
        use()


def _journal(content: bytes) -> None:
    def use() -> None:
        for entry in area_journal.entries():
            msgspec.json.encode(entry)

    _kept("areas/a.json", content, use)


def _verdicts(content: bytes) -> None:
    def use() -> None:
        kept = verdicts.kept(_PLACE)
        assert kept.note is None or plain(kept.note) == kept.note
        msgspec.json.encode(kept)

    _kept("verdicts/m/k.json", content, use)


def _earlier(content: bytes) -> None:
    path = earlier_runs._file(Path("memgauge"), "m").relative_to("memgauge")

    def use() -> None:
        known = earlier_runs.known_before(Path("out"), "m", remembered=True)
        assert all(plain(one.message) == one.message for one in known.warnings)
        msgspec.json.encode(known)
        earlier_runs.remembered()

    _kept(str(path), content, use)


def _pages(content: bytes) -> None:
    machine = scratch("pages")
    machine.plant({"sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages": b"12\n"})
    path = reservation._path(scratch("state").root / "memgauge", 2 << 20)

    def use() -> None:
        for left in reservation.left_behind(Tree(machine.root)):
            assert plain(left.message) == left.message

    _kept(path.name, content, use)


READERS: dict[str, Callable[[bytes], None]] = {
    "peer": _peer,
    "callgrind": _callgrind,
    "lackey": _lackey,
    "mark": _mark,
    "journal": _journal,
    "pages": _pages,
    "verdicts": _verdicts,
    "earlier": _earlier,
    "module": _module,
    "mount": _mount,
}
"""By the name of the part."""
