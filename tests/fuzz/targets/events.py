"""Events as users write them, one on each line: taken apart, written again, looked up."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import msgspec
from tests.counters_trees.cores import INTEL_FORMAT
from tests.fuzz.archive import parts_of
from tests.fuzz.invariants import check_refusal
from tests.fuzz.planted import scratch
from tests.fuzz.targets.trees import WITHOUT_A_TREE
from tests.fuzz.targets.trees import seeds as trees_of

from memgauge.counters.base import BackEnd
from memgauge.counters.host import Host
from memgauge.counters.perf.encoding import decode, encode, parse_event, parse_terms, shown
from memgauge.counters.perf.pmu import parse_field
from memgauge.counters.registry import load
from memgauge.model.counting.back_ends import BACK_ENDS
from memgauge.model.counting.event_names import events_option, split_events
from memgauge.model.errors import RequestError
from memgauge.runner.profiling.parameters import parse_events

IS_JSON = False
_EVENTS = events_option("")


def seeds() -> Iterator[bytes]:
    """What the documentation has, and some of what it warns of."""
    yield b"perf:cycles\nperf:uncore_imc/event=0x04,umask=0x03/\nauto\nmodelled\nnone"
    yield b"perf:uncore_imc/data_reads/,perf:cpu/event=0xd0,umask=0x81,cmask=1/"
    yield b"proc:cpu_time,net:eth0/received,powercap:intel-rapl:0,cgroup:io.read_bytes"
    yield b"resctrl:mbm_total_bytes\nresctrl:group/mbm_total_bytes\nhwmon:power_meter/power1"
    yield b"perf:r01c2\nperf:amd_df/event=7,umask=?/\nperf:cpu/config=0x1,config1=2,edge/"


def run(data: bytes) -> None:
    """Each line through every reader of events."""
    for line in data.decode("utf-8", "replace").split("\n")[:8]:
        for read in (_list, _perf, _field, _profile, _find):
            try:
                read(line)
            except RequestError as error:
                check_refusal(error)


def _list(line: str) -> None:
    """Events written as a list are read back to the same."""
    split_events(line)
    events = _EVENTS.parse(line, "--counters")
    assert _EVENTS.parse(_EVENTS.write(events), "--counters") == events


def _profile(line: str) -> None:
    events = parse_events(line, "--counters")
    assert parse_events(",".join(events), "--counters") == events


def _perf(line: str) -> None:
    requested = parse_event(line.removeprefix("perf:"))
    assert parse_terms(shown(requested.terms)) == requested.terms
    fields = {
        name: field for name, text in INTEL_FORMAT.items() if (field := parse_field(name, text))
    }
    words = encode(requested.terms, fields, "pmu")
    given = {term.name: 1 if term.value is None else term.value for term in requested.terms}
    if not any(name.startswith("config") for name in given):
        found = decode(words, fields)
        assert {name: found[name] for name in given} == given


def _field(line: str) -> None:
    """A format file's text of a PMU."""
    field = parse_field("field", line)
    assert field is None or field.width > 0


def _find(line: str) -> None:
    name, _, text = line.partition(":")
    if name in WITHOUT_A_TREE or name not in BACK_ENDS:
        return
    for event in _back_end(name).find(text):
        msgspec.json.encode(event)


@cache
def _back_end(name: str) -> BackEnd:
    place = scratch("events")
    files = [part for seed in trees_of() for part in parts_of(seed)]
    place.plant(dict(files))
    host = Host(sysfs=place.root / "sys", procfs=place.root / "proc", architecture="x86_64")
    return load(name, host)
