"""What a diagnosis says, shows, and hands on as data."""

from __future__ import annotations

import msgspec
import pytest
from tests.unit.analysis.diagnose.programs import diagnosed, recorded, with_memory

from memgauge.analysis.diagnose.document import diagnosis_figures
from memgauge.analysis.diagnose.figures import diagnosis_of
from memgauge.analysis.diagnose.memory_seen import memory_seen
from memgauge.analysis.diagnose.section import analyse
from memgauge.analysis.figures.conditions import others_share
from memgauge.analysis.figures.run import Figures, figures_of
from memgauge.analysis.report.run import report_of
from memgauge.analysis.report.verdicts import run_verdicts
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.record_kinds.programs import ProgramMemory
from memgauge.model.records import Environment
from memgauge.model.run import run_of

MIB = 1 << 20


def said(figures: Figures) -> str:
    return " ".join(verdict.text for verdict in analyse(figures).verdicts)


def numbers(estimate: Estimate | None) -> tuple[float, float, float]:
    assert estimate is not None
    return estimate.value, estimate.low, estimate.high


def test_the_answer_fits_a_screen_and_begins_with_the_verdict() -> None:
    answer = report_of(diagnosed(latency=0.5, variants={"huge": 0.8})).answer
    assert answer is not None
    assert answer.sentences[0].startswith("It waits for memory")
    labels = [line.label for line in answer.lines]
    assert labels[:4] == ["Slowdown", "Behaves like", "Needs", "Time with"]
    assert answer.charts == ["diagnose-latency", "diagnose-bandwidth"]


def test_variants_are_told_in_order_of_their_gain() -> None:
    figures = diagnosed(variants={"a": 0.9, "b": 0.7, "c": 1.3, "d": 1.0})
    text = said(figures)
    assert text.index("b (what b changes): takes") < text.index("a (what a changes): takes")
    assert "less time" in text.split("c (what c changes): takes")[0]
    assert "more time" in text.split("c (what c changes): takes")[1]
    assert "No gain above 2% was found of: d." in text


def test_all_cpus_are_no_remedy_but_show_what_the_diagnosis_is_of() -> None:
    figures = diagnosed(variants={"all CPUs": 0.5, "huge": 0.8})
    verdicts = analyse(figures).verdicts
    (one,) = (one for one in verdicts if one.text.startswith("Without a diagnosis"))
    assert one.level == "note"
    assert "% less time" in one.text
    assert "of the program on fewer CPUs" in one.text
    assert [one.text.split()[0] for one in verdicts if one.level == "good"] == ["huge"]
    answer = report_of(figures).answer
    assert answer is not None
    assert "faster: as without a diagnosis" in " ".join(line.detail for line in answer.lines)


@pytest.mark.parametrize(
    ("noise", "words"),
    [(0.001, "no difference above 2%"), (0.5, "no difference that can be told")],
)
def test_a_variant_that_differs_by_noise_is_not_called_equal(noise: float, words: str) -> None:
    answer = report_of(diagnosed(variants={"a": 1.0}, noise=noise)).answer
    assert answer is not None
    details = {line.figures[0].name: line.detail for line in answer.lines if line.figures}
    assert details["a"] == words


def test_shares_are_said_of_what_slows_down_only() -> None:
    assert "slows down like a program" in said(diagnosed(latency=0.5))
    assert "slows down like a program" not in said(diagnosed())


def test_data_are_finite_and_read_back() -> None:
    found = diagnosis_figures(diagnosed(latency=1.0, variants={"huge": 0.9}))
    assert found is not None
    assert found.command == "a.out -n 3"
    read = msgspec.json.decode(msgspec.json.encode(found), type=type(found))
    assert read == found
    assert found.verdict == "memory"
    write = next(one for one in found.treatments if one.name == "write")
    assert write.slowdown is not None
    assert write.slowdown.value == pytest.approx(1.5, abs=0.05)
    assert found.traffic is None


def test_a_run_that_was_killed_at_once_has_a_section() -> None:
    assert analyse(diagnosed(rounds=0)).tables == []
    found = diagnosis_figures(diagnosed(rounds=0))
    assert found is not None
    assert (found.verdict, found.time) == ("cannot tell", None)


def test_points_that_say_nothing_of_themselves_are_no_diagnosis() -> None:
    known = diagnosed(rounds=1).run
    bare = [
        msgspec.structs.replace(one, requested={}, measured_with=None)
        for one in known.points.values()
    ]
    figures = figures_of(run_of([known.start, *bare]))
    assert diagnosis_figures(figures) is None
    assert analyse(figures).verdicts == []


def test_a_rate_is_diagnosed_as_the_time_that_it_is_the_inverse_of() -> None:
    timed = diagnosis_of(diagnosed(latency=0.5))
    rated = diagnosis_of(diagnosed(latency=0.5, rate=400.0, process_cpus="0-1"))
    assert timed is not None
    assert rated is not None
    for one, other in zip(timed.treated, rated.treated, strict=True):
        assert numbers(other.program) == pytest.approx(numbers(one.program))
        if one.shares["latency"] is None:
            assert other.shares["latency"] is None
        else:
            share = numbers(one.shares["latency"])
            assert numbers(other.shares["latency"]) == pytest.approx(share, rel=1e-6, abs=1e-6)
    value, low, high = numbers(timed.program_time)
    # The median of an even number is the mean of two, which an inverse does not keep.
    expected = (400 / value, 400 / high, 400 / low)
    assert numbers(rated.program_time) == pytest.approx(expected, rel=1e-3)


def test_a_process_is_told_what_was_not_tried_and_where_pressure_was() -> None:
    figures = diagnosed(latency=0.5, rate=400.0, process_cpus="0-1")
    found = diagnosis_figures(figures)
    assert found is not None
    assert (found.command, found.metric_better) == ("", "more")
    assert found.process is not None
    assert (found.process.shared_cpus, found.process.has_reference_cpu) == ("", True)
    assert found.time is not None
    assert found.time.value == pytest.approx(400, rel=0.02)
    text = said(figures)
    assert "reference loops ran on a CPU" not in text
    (table,) = analyse(figures).tables
    assert "Time: 1 over what the metric command prints." in (table.note or "")


def test_cpus_that_a_process_shares_with_generators_are_a_warning() -> None:
    text = said(diagnosed(rate=400.0, process_cpus="0-7"))
    assert "Process 77 may use the CPUs that generate pressure (2-3)" in text
    assert "The reference loops ran on a CPU that process 77 may use" in text
    assert "may use" not in said(diagnosed())


def test_cores_that_move_are_stated_once_where_references_have_a_cpu_of_their_own() -> None:
    figures = diagnosed(rate=400.0, process_cpus="0-1", pingpongs_ns=(30.0, 120.0))
    moved = [one.text for one in run_verdicts(figures) if "two distances" in one.text]
    assert len(moved) == 1
    assert "CPUs 0-1" in moved[0]


def test_what_other_programs_used_is_not_known_beside_a_process() -> None:
    busy = Environment(
        at_ns=0, interval_s=1.0, steal_s=0.0, others_s=1.0, load_1min=None, frequency_khz=None
    )
    for rate, known in ((None, True), (400.0, False)):
        start, *others = recorded(rounds=1, rate=rate, process_cpus="0")
        run = run_of([start, busy, *others])
        assert (others_share(figures_of(run)) is not None) == known


PAGES = {"huge": {"pages_wanted": "huge"}, "base": {"pages_wanted": "base"}}
NODES = {name: {"nodes_wanted": nodes} for name, nodes in (("near", "0"), ("both", "0-1"))}


def on_nodes(first_bytes: int, second_bytes: int) -> ProgramMemory:
    return ProgramMemory(
        anonymous_bytes=first_bytes + second_bytes,
        huge_bytes=0,
        node_bytes={0: first_bytes, 1: second_bytes},
    )


def in_huge(share: float) -> ProgramMemory:
    return ProgramMemory(anonymous_bytes=512 * MIB, huge_bytes=int(share * 512 * MIB))


def cells(figures: Figures, name: str) -> list[dict[str, object]]:
    (table,) = (table for table in analyse(figures).tables if table.name == name)
    titles = [column.title for column in table.columns]
    return [dict(zip(titles, row, strict=True)) for row in table.rows]


def test_what_was_got_stands_beside_each_variant() -> None:
    figures = with_memory(
        diagnosed(variants={"huge": 0.9, "base": 1.0}),
        {"as it is again": in_huge(0.0), "huge": in_huge(0.92)},
        wanted=PAGES,
    )
    rows = cells(figures, "diagnose-variants")
    assert [row["huge pages"] for row in rows] == ["0% of 512 MiB", "92% of 512 MiB", None]
    assert "memory on" not in rows[0]
    assert "huge pages" not in cells(diagnosed(variants={"huge": 1.0}), "diagnose-variants")[0]


@pytest.mark.parametrize(
    ("usual", "huge", "base", "reason"),
    [
        (0.0, 0.0, 0.0, "huge (what huge changes): no memory of it was in huge pages."),
        (0.0, 0.0, 0.0, "base (what base changes): no memory of it is in huge pages anyway."),
        (0.9, 0.91, 0.0, "as much of its memory as usual was in huge pages (91%)"),
        (0.0, 0.9, 0.5, None),
    ],
)
def test_pages_that_are_as_usual_are_told(
    usual: float, huge: float, base: float, reason: str | None
) -> None:
    memory = {"as it is": in_huge(usual), "huge": in_huge(huge), "base": in_huge(base)}
    variants = {"huge": 1.0, "base": 1.0}
    text = said(with_memory(diagnosed(variants=variants), memory, wanted=PAGES))
    assert "in huge pages" not in text if reason is None else reason in text


def test_a_program_on_the_wrong_node_is_told_to_move() -> None:
    figures = with_memory(
        diagnosed(variants={"near": 0.7, "both": 0.9}),
        {"as it is": on_nodes(0, 99), "near": on_nodes(99, 0), "both": on_nodes(49, 50)},
        wanted=NODES,
    )
    text = said(figures)
    assert text.index("near (what near changes): takes") < text.index("both (what both changes)")
    assert "anyway" not in text
    near = cells(figures, "diagnose-variants")[1]
    assert near["memory on"] == "node 0: 100%, node 1: 0%"


@pytest.mark.parametrize(
    ("usual", "near", "reason"),
    [
        (on_nodes(99, 1), on_nodes(100, 0), "was where it is anyway (node 0: 100%, node 1: 0%)"),
        (on_nodes(0, 100), on_nodes(20, 80), "only 20% of its memory was there"),
        (in_huge(0.0), in_huge(0.0), None),
    ],
)
def test_a_policy_that_had_no_effect_is_told(
    usual: ProgramMemory, near: ProgramMemory, reason: str | None
) -> None:
    memory = {"as it is": usual, "near": near}
    figures = with_memory(diagnosed(variants={"near": 1.0}), memory, wanted=NODES)
    assert "of its memory" not in said(figures) if reason is None else reason in said(figures)
    answer = report_of(figures).answer
    assert answer is not None
    (line,) = (line for line in answer.lines if line.figures and line.figures[0].name == "near")
    assert (reason or "no difference") in line.detail


def test_what_was_not_tried_has_its_reason_and_data() -> None:
    lines = "remote memory: there is one memory node\nother CPUs: the program: has one"
    figures = with_memory(
        diagnosed(variants={"huge": 1.0}), {"huge": in_huge(0.25)}, not_tried=lines, wanted=PAGES
    )
    assert cells(figures, "diagnose-not-tried") == [
        {"what": "remote memory", "why": "there is one memory node"},
        {"what": "other CPUs", "why": "the program: has one"},
    ]
    found = diagnosis_figures(figures)
    assert found is not None
    assert [one.name for one in found.not_tried] == ["remote memory", "other CPUs"]
    assert found.usual_memory is None
    (huge,) = (one for one in found.treatments if one.name == "huge")
    assert huge.memory is not None
    assert (huge.memory.looks, huge.memory.huge_share_high) == (1, 0.25)
    assert msgspec.json.decode(msgspec.json.encode(found), type=type(found)) == found


def test_rounds_that_differ_are_shown_as_a_range() -> None:
    seen = memory_seen([in_huge(0.0), in_huge(0.9), in_huge(0.88)])
    assert seen is not None
    assert seen.huge_words == "0% to 90% of 512 MiB"
    assert memory_seen([]) is None
    assert memory_seen([ProgramMemory(anonymous_bytes=0, huge_bytes=0)]) is None
