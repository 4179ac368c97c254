"""What pages tell of address translation, and where nothing may be said of it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from benchmarks.diagnose.simulated import MACHINES
from benchmarks.diagnose.simulated_translation import PROGRAMS, is_wrong
from benchmarks.diagnose.simulated_translation import diagnosed as simulated_diagnosis
from tests.unit.analysis.diagnose.programs import RING_BYTES, diagnosed, with_memory, with_uses
from tests.unit.analysis.diagnose.test_traffic import GB, document, said, simulated

from memgauge.analysis.diagnose.contradictions import contradictions
from memgauge.analysis.diagnose.document import TranslationFigures
from memgauge.analysis.diagnose.figures import diagnosis_of
from memgauge.analysis.diagnose.page_facts import (
    LARGEST_ENTRIES,
    PAGES_OF_AN_ENTRY,
    Spent,
    reach_of,
    saved_between,
)
from memgauge.analysis.diagnose.section import analyse
from memgauge.analysis.figures.run import Figures, figures_of
from memgauge.analysis.report.run import report_of
from memgauge.model.record_kinds.programs import (
    ProgramMemory,
    Referenced,
    ReferencedLook,
    RunUse,
    Usage,
)
from memgauge.model.records import AnyRecord, MeasuredReach
from memgauge.model.run import run_of
from memgauge.reports.terminal.report import render
from memgauge.system.environment.tlb import tlb_entries
from memgauge.system.tree import Tree

MIB = 1 << 20
MEMORY_BYTES = 256 * MIB
REACH = MeasuredReach(
    run_id="known",
    started_at="2026-01-02T03:04:05+00:00",
    page_bytes=4096,
    reach_bytes=16 * MIB,
    splits_huge_pages=False,
)


def use(user_s: float, system_s: float, faults: int) -> RunUse:
    return RunUse(
        usage=Usage(
            user_s=user_s,
            system_s=system_s,
            peak_resident_bytes=MEMORY_BYTES,
            minor_faults=faults,
            major_faults=0,
            voluntary_switches=1,
            involuntary_switches=1,
        )
    )


BASE, HUGE = use(0.95, 0.05, 65_000), use(0.70, 0.01, 200)
"""A quarter of the time in user mode is saved, and 4% in the kernel: 21% beyond page faults."""


def seen(huge_share: float) -> ProgramMemory:
    return ProgramMemory(anonymous_bytes=MEMORY_BYTES, huge_bytes=int(huge_share * MEMORY_BYTES))


def referring(bytes_: int, *, base_pages: bool = True) -> Referenced:
    look = ReferencedLook(
        interval_ns=125_000_000, referenced_bytes=bytes_, resident_bytes=MEMORY_BYTES
    )
    return Referenced(looks=[look, look], base_pages=base_pages)


def paged(
    *,
    usual: RunUse = BASE,
    other: RunUse = HUGE,
    time: float = 0.7,
    pages: str = "huge",
    usual_share: float = 0.0,
    other_share: float = 0.95,
    working_set: Referenced | None = None,
    moved_bytes: int | None = GB,
    reach: MeasuredReach | None = REACH,
    again: RunUse | None = None,
    **program: Any,
) -> Figures:
    """A diagnosis with one variant of pages, named other; the run as it is takes a second."""
    figures = diagnosed(variants={"other": time}, **program)
    memory: Mapping[str, ProgramMemory] = {
        "as it is": seen(usual_share),
        "other": seen(other_share),
    }
    figures = with_memory(figures, memory, wanted={"other": {"pages_wanted": pages}})
    more: list[AnyRecord] = [working_set or referring(MEMORY_BYTES)]
    more += [reach] if reach else []
    more += simulated(moved_bytes, 0) if moved_bytes is not None else []
    uses = {"as it is": usual, "as it is again": again or usual, "other": other}
    return with_uses(figures, uses, *more)


def translation(figures: Figures) -> TranslationFigures:
    found = document(figures).translation
    assert found is not None
    return found


def test_it_stands_beside_what_waits_for_memory() -> None:
    figures = paged(latency=0.5)
    found = document(figures)
    assert found.verdict == "latency"
    one = translation(figures)
    assert (one.verdict, one.base_treatment, one.huge_treatment) == (
        "translation",
        "as it is",
        "other",
    )
    assert one.saved is not None
    assert one.user_saved is not None
    assert one.saved.value == pytest.approx(0.21)
    assert one.user_saved.value == pytest.approx(0.25)
    assert one.at_least == pytest.approx(0.21)  # less than the 30% of time that it gains
    assert (one.base_faults, one.huge_faults) == (65_000, 200)
    text = said(figures)
    assert text.startswith("It is limited by memory latency.")
    assert "At least 21% of its processor time goes to address translation." in text
    assert "overlap, and are not to be added" in text
    assert "more than the reach of the TLB (measured by run known), 16 MiB" in text
    assert found.contradictions == []
    (table,) = [one for one in analyse(figures).tables if one.name == "diagnose-pages"]
    assert len(table.rows) == 3


def test_it_is_the_verdict_where_pressure_finds_nothing() -> None:
    figures = paged()
    found = document(figures)
    assert found.verdict == "translation"
    assert said(figures).startswith(
        "It is limited by address translation. At least 21% of its processor time goes to address"
    )
    assert found.contradictions == []
    answer = report_of(figures).answer
    assert answer is not None
    assert answer.sentences == [
        "It is limited by address translation. It takes at least 21% of its processor time."
    ]
    assert [one.detail for one in answer.lines if one.label == "Translation"] == [
        "at least 21% of its processor time"
    ]


def test_the_answer_fits_a_screen_with_all_that_is_told() -> None:
    for figures in (paged(latency=0.5), paged(), paged(latency=0.5, moved_bytes=None)):
        lines = render(report_of(figures), whole=False).splitlines()
        assert len(lines) <= 25
        assert max(map(len, lines)) <= 80


def test_the_share_is_no_more_than_the_time_that_is_gained() -> None:
    one = translation(paged(latency=0.5, time=0.9))
    assert one.at_least is not None
    assert 0.05 < one.at_least < 0.11


def test_a_program_on_huge_pages_is_spared() -> None:
    figures = paged(
        usual=HUGE, other=BASE, time=1.4, pages="base", usual_share=0.95, other_share=0.0
    )
    found = document(figures)
    one = translation(figures)
    assert found.verdict == "not memory"
    assert (one.verdict, one.base_treatment, one.huge_treatment) == ("spared", "other", "as it is")
    assert one.at_least == pytest.approx(0.21)
    assert "On base pages at least 21% of its processor time would go" in said(figures)
    assert found.contradictions == []


def test_page_faults_are_no_translation() -> None:
    figures = paged(usual=use(0.70, 0.30, 300_000), other=use(0.69, 0.01, 200), time=0.7)
    one = translation(figures)
    assert (one.verdict, one.at_least) == ("little", None)
    assert "are of page faults and the kernel: page faults of a run fall from 300,000" in one.why
    assert document(figures).verdict == "not memory"
    # What page faults cost in user mode afterwards may be as much as they cost in the kernel.
    after = translation(paged(usual=use(0.8, 0.2, 200_000), other=use(0.6, 0.01, 200), time=0.6))
    assert after.verdict == "cannot tell"
    assert "page faults may explain it" in after.why


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"working_set": referring(8 * MIB)}, "lies within the reach of the TLB"),
        ({"reach": None, "working_set": referring(60 * MIB)}, "of the largest TLB known"),
        ({"working_set": referring(RING_BYTES * 2)}, "about what the last-level cache holds"),
        ({"moved_bytes": None}, "its traffic is not known"),
        ({"moved_bytes": 8 * GB}, "prefetchers that stop at the ends of pages"),
        ({"other_share": 0.3}, "no way that was tried put half of its memory on huge pages"),
        ({"usual": use(0.285, 0.015, 9), "other": use(0.21, 0.003, 9)}, "from 0.5 s on"),
        ({"again": use(0.8, 0.05, 65_000)}, "processor time of the usual way twice differs"),
        ({"rounds": 6}, "too few rounds"),
        ({"usual": RunUse(), "other": RunUse()}, "too few rounds have the kernel's accounts"),
    ],
)
def test_it_is_withheld_with_the_reason(changed: Mapping[str, Any], why: str) -> None:
    one = translation(paged(**{"latency": 0.5, **changed}))
    assert (one.verdict, one.at_least) == ("cannot tell", None)
    assert why in one.why


@pytest.mark.parametrize(
    ("shares", "why"),
    [
        ({"bandwidth": 1.0}, "prefetchers that stop at the ends of pages"),
        ({"cached": 1.0}, "lines of base pages may collide"),
    ],
)
def test_what_streams_or_lives_in_the_cache_may_gain_otherwise(
    shares: Mapping[str, Any], why: str
) -> None:
    one = translation(paged(moved_bytes=8 * GB, **shares))
    assert one.verdict == "cannot tell"
    assert why in one.why


def test_huge_pages_of_the_usual_run_are_not_in_what_it_refers_to() -> None:
    of_huge = referring(MEMORY_BYTES, base_pages=False)
    one = translation(paged(latency=0.5, usual_share=0.4, working_set=of_huge))
    assert one.verdict == "translation"
    near = referring(int(0.41 * MEMORY_BYTES), base_pages=False)
    one = translation(paged(latency=0.5, usual_share=0.4, working_set=near))
    assert "lies within the reach" in one.why


def test_gains_that_translation_does_not_explain_contradict() -> None:
    far = msgspec.structs.replace(REACH, reach_bytes=512 * MIB)
    small = paged(latency=0.5, reach=far)
    as_long = paged(latency=0.5, time=1.0)
    for figures, kinds in ((small, ("pages", "working set")), (as_long, ("pages", "time"))):
        assert [one.kinds for one in document(figures).contradictions] == [kinds]
        assert "Two kinds of evidence contradict each other" in said(figures)
    # An upper bound of the reach contradicts nothing.
    bound = paged(latency=0.5, working_set=referring(60 * MIB), reach=None)
    assert document(bound).contradictions == []


def test_pages_that_explain_a_gain_do_not_contradict_pressure() -> None:
    found = diagnosis_of(paged())
    assert found is not None
    assert contradictions(found) == []
    unknown = diagnosis_of(paged(working_set=referring(60 * MIB), reach=None))
    assert unknown is not None
    assert [one.kinds for one in contradictions(unknown)] == [("interference", "pages")]


def test_it_is_said_why_huge_pages_gain_less_than_they_could() -> None:
    split = msgspec.structs.replace(REACH, splits_huge_pages=True)
    assert "By run known huge pages are translated in smaller pieces here" in said(
        paged(latency=0.5, reach=split)
    )
    assert "gain less than they could" not in said(paged(latency=0.5))
    run = paged(latency=0.5, reach=None).run
    guest = msgspec.structs.replace(run.start.system, virtualisation="virtual machine (KVM)")
    begin = msgspec.structs.replace(run.start, system=guest)
    samples = [one for of in run.samples.values() for one in of]
    records: list[AnyRecord] = [begin, *run.points.values(), *run.referenced, *samples]
    assert "This is a virtual machine" not in said(figures_of(run_of(records)))  # nothing is told
    records += simulated(GB, 0)
    assert "This is a virtual machine" in said(figures_of(run_of(records)))


def test_without_other_pages_nothing_is_said() -> None:
    figures = diagnosed(latency=0.5, variants={"other": 0.7})
    assert document(figures).translation is None
    assert "translation" not in said(figures)


def test_savings_of_a_pass_are_shares_of_its_time_on_base_pages() -> None:
    base = {at: Spent(active_s=2, user_s=0.8, system_s=0.2, faults=9) for at in range(10)}
    huge = {at: Spent(active_s=2, user_s=0.5, system_s=0.1, faults=1) for at in range(3, 20)}
    assert saved_between(base, huge) is None  # seven rounds
    found = saved_between(base, {**huge, 0: huge[3], 1: huge[3], 2: huge[3]})
    assert found is not None
    assert (found.rounds, found.base_faults, found.huge_faults) == (10, 9, 1)
    assert found.user.value == pytest.approx(0.3)
    assert found.system.value == pytest.approx(0.1)
    assert found.beyond_faults.value == pytest.approx(0.2)
    assert found.busy == pytest.approx(0.5)
    # Huge pages that cost the kernel more take nothing off.
    dear = {at: Spent(active_s=2, user_s=0.5, system_s=0.3, faults=1) for at in range(10)}
    more = saved_between(base, dear)
    assert more is not None
    assert more.beyond_faults.value == pytest.approx(0.3)


def test_a_reach_that_was_not_measured_is_the_largest_known() -> None:
    largest = LARGEST_ENTRIES * PAGES_OF_AN_ENTRY * 4096
    assert reach_of([], None, 4096).bytes == largest
    assert reach_of([], 192, 4096).bytes == largest  # a hypervisor's figure, or a field too small
    assert reach_of([], 2 * LARGEST_ENTRIES, 4096).bytes == 2 * largest
    measured = reach_of([REACH], 192, 4096)
    assert (measured.bytes, measured.is_measured) == (16 * MIB, True)
    assert reach_of([REACH], None, 65_536).is_measured is False


@pytest.mark.parametrize(
    ("cpuinfo", "entries"),
    [
        ("processor\t: 0\nTLB size\t: 2560 4K pages\n", 2560),
        ("processor\t: 0\n", None),
        ("TLB size\t: none\n", None),
        ("TLB size\t:\n", None),
        ("TLB size\t: 0 4K pages\n", None),
    ],
)
def test_the_kernel_reports_entries_of_the_tlb_or_none(
    tmp_path: Path, cpuinfo: str, entries: int | None
) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "cpuinfo").write_text(cpuinfo)
    assert tlb_entries(Tree(tmp_path)) == entries


@pytest.mark.parametrize("machine", MACHINES[:2], ids=lambda machine: machine.name)
def test_translation_is_seldom_said_falsely(machine: Any) -> None:
    """The whole table is made by `benchmarks.diagnose.simulated_translation`."""
    draw = random.Random(3)
    told = wrong = 0
    for truth in PROGRAMS:
        found, _, _ = simulated_diagnosis(machine, truth, 16, draw)
        told += found.at_least is not None
        wrong += is_wrong(found, truth)
    assert wrong <= 1
    assert told >= 3
