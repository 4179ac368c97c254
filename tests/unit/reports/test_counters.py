"""The list of counters as text: any width, any encoding, nothing a terminal would obey."""

import msgspec
import pytest

from memgauge.analysis.counters.events_document import counters_document
from memgauge.model.counting.events import BackEndState, Event, EventVerdict
from memgauge.reports.counters import render_explained, render_list
from memgauge.reports.terminal.report import Look


def event(name: str = "perf:uncore_imc/cas_count_read/", **changes: object) -> Event:
    made = Event(
        name=name,
        back_end="perf",
        quantity="read_bytes",
        domain="memory",
        scope="controller",
        unit="B",
        scale=64.0,
        scale_source="the kernel's .scale and .unit files",
        certainty="conflict",
        traffic="dram",
        way="imc",
        meaning="DRAM reads",
        encoding="event=0x04 (config=0x4)",
        instances=[f"uncore_imc_{n}@cpu0" for n in range(20)],
        source="uncore_snbep.c",
        pitfalls=["counts everything"],
        state="ready",
    )
    return msgspec.structs.replace(made, **changes)


VERDICT = EventVerdict(
    event="perf:uncore_imc/cas_count_read/",
    verdict="verified",
    evidence="8 passes",
    ratio=1.001,
    ratio_low=0.99,
    ratio_high=1.01,
    machine="m",
    kernel="6.12",
    made_at="2026-01-01T00:00:00Z",
)
CORE = [
    event(f"perf:e{n}", quantity="count", domain="core", state="refused", reason="no right",
          remedy="be root")
    for n in range(9)
]  # fmt: skip
STATE = BackEndState(name="perf", summary="perf events", state="ready", events=[event(), *CORE])
ABSENT = BackEndState(
    name="pcp", summary="a daemon", state="absent", reason="no pmcd", remedy="install it"
)
DOCUMENT = counters_document([STATE, ABSENT], {VERDICT.event: VERDICT}, tree=None)


def look(columns: int = 80, encoding: str = "utf-8") -> Look:
    return Look(columns=columns, encoding=encoding)


def test_a_back_end_says_its_events_or_why_it_has_none() -> None:
    said = render_list(DOCUMENT, look(), whole=False)
    flat = " ".join(said.split())
    assert "perf:uncore_imc/cas_count_read/: bytes read, in 20 places" in flat
    assert "verified: 1.001 (0.990 to 1.010) of known traffic" in flat
    assert (
        "perf:e0, perf:e1, perf:e2, perf:e3, perf:e4, perf:e5 and 3 more (--all): no right" in flat
    )
    assert said.count("be root") == 1
    assert "no pmcd" in said
    assert "install it" in said


def test_all_are_listed_one_by_one_when_asked_for() -> None:
    said = render_list(DOCUMENT, look(), whole=True)
    assert said.count("be root") == 9
    assert "--all" not in said


@pytest.mark.parametrize("columns", [20, 37, 80, 100])
def test_no_line_is_wider_than_the_output(columns: int) -> None:
    for text in (
        render_list(DOCUMENT, look(columns), whole=True),
        render_explained(DOCUMENT, look(columns)),
    ):
        assert max(map(len, text.splitlines())) <= columns


def test_ascii_is_enough() -> None:
    for text in (
        render_list(DOCUMENT, look(encoding="ascii"), whole=False),
        render_explained(DOCUMENT, look(encoding="ascii")),
    ):
        assert text.isascii()


def test_an_event_is_explained_whole() -> None:
    said = " ".join(render_explained(DOCUMENT, look(100)).split())
    for part in (
        "DRAM reads",
        "event=0x04 (config=0x4)",
        "64 B, from the kernel's .scale and .unit files (conflict: sources contradict each other",
        "20 places: uncore_imc_0@cpu0",
        "and 8 more",
        "dram, counted by method imc: never add events of other methods",
        "beware counts everything",
        "8 passes; made 2026-01-01",
        "can be opened now",
    ):
        assert part in said, part


def test_what_a_copied_tree_lost_stands_above_what_is_explained() -> None:
    lost = "DIR/sys does not tell the processor's model: no event of amd_l3 is known"
    told = msgspec.structs.replace(DOCUMENT, notes=[lost])
    assert render_explained(told, look(200)).splitlines()[0] == f"· note    {lost}"
    assert "note" not in render_explained(DOCUMENT, look(200)).splitlines()[0]


def test_names_of_strangers_steer_no_terminal() -> None:
    evil = BackEndState(
        name="hwmon", summary="\x1b[2Jsensors", state="ready", events=[event("hwmon:\x1b]0;x\x07a")]
    )
    document = counters_document([evil], {}, tree="/trees/\x1b[31m")
    for text in (render_list(document, look(), whole=True), render_explained(document, look())):
        assert "\x1b" not in text
        assert "\x07" not in text
