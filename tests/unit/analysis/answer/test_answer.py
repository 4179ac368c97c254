"""What a survey answers first."""

import msgspec
import pytest
from tests.unit.analysis.runs import records, start, whole_run

from memgauge.analysis.answer.next_steps import MOST_STEPS, next_steps
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.section import QUIET, Answer, AnswerLine, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.records import Point, Sample
from memgauge.model.run import run_of
from memgauge.reports.answer import step_words
from memgauge.reports.terminal.report import render


@pytest.fixture(scope="module")
def answer() -> Answer:
    found = analyse_run(whole_run()).answer
    assert found is not None
    return found


def line(answer: Answer, label: str) -> AnswerLine:
    return next(one for one in answer.lines if one.label == label)


def values(one: AnswerLine) -> dict[str, float]:
    return {
        figure.name: figure.value.value
        for figure in one.figures
        if isinstance(figure.value, Estimate)
    }


def test_bandwidth_has_a_line_for_each_regime_and_one_for_a_single_thread(answer: Answer) -> None:
    at = answer.lines.index(line(answer, "Bandwidth"))
    near, far, one = answer.lines[at : at + 3]
    assert [near.label, far.label, one.label] == ["Bandwidth", "", ""]
    assert values(near) == pytest.approx({"triad": 28, "copy": 40}, rel=0.02)
    assert values(far) == pytest.approx({"triad": 56, "copy": 80}, rel=0.02)
    assert "same complex" in near.detail
    assert "across complexes" in far.detail
    assert one.detail == "1 thread, tuned"
    shares = [
        int(detail.rpartition("% of passes")[0].split()[-1]) for detail in (near.detail, far.detail)
    ]
    assert sum(shares) == 100
    assert shares[0] >= shares[1]


def test_each_figure_is_the_one_of_its_section(answer: Answer) -> None:
    assert values(line(answer, "Latency"))["DRAM"] == pytest.approx(150, rel=0.01)
    caches = line(answer, "Caches")
    assert [figure.name for figure in caches.figures][:2] == ["L1 32 KiB", "L2 1 MiB"]
    assert caches.figures[2].name == "L3 6 MiB"
    assert caches.detail == "L3: not as the topology claims"


def test_what_was_not_measured_has_no_line() -> None:
    kept = [
        record
        for record in records()
        if not isinstance(record, (Point, Sample)) or record.point.startswith(("stream", "latency"))
    ]
    found = analyse_run(run_of(kept)).answer
    assert found is not None
    labels = {one.label for one in found.lines}
    assert labels <= {"Bandwidth", "", "Latency", "Caches", "Scaling", "Figures"}
    assert found.charts == []


def test_a_kernel_without_a_usable_sample_is_a_dash_in_its_place() -> None:
    """So that the same quantities are shown in every run."""
    lost = [f"stream/triad/tuned/double/2t{whole}" for whole in ("", "/pass")]
    cut = [one for one in records() if not (isinstance(one, Sample) and one.point in lost)]
    found = analyse_run(run_of(cut)).answer
    assert found is not None
    bandwidth = line(found, "Bandwidth")
    assert [one.name for one in bandwidth.figures][:2] == ["triad", "copy"]
    assert bandwidth.figures[0].value is None
    assert isinstance(bandwidth.figures[1].value, Estimate)
    assert "2 threads, tuned" in bandwidth.detail


def test_medians_are_called_so_where_samples_are_few() -> None:
    """Of 12 rounds a speed has no interval of its 90th percentile, but one of its median."""
    few = [one for one in records() if not isinstance(one, Sample) or one.round < 12]
    found = analyse_run(run_of(few)).answer
    assert found is not None
    for label in ("Bandwidth", "Latency", "Caches"):
        assert "medians" in line(found, label).detail
    assert "unless called medians" in line(found, "Figures").detail


def test_percentiles_are_not_called_medians(answer: Answer) -> None:
    for label in ("Bandwidth", "Latency", "Caches"):
        assert "medians" not in line(answer, label).detail


def test_a_run_of_one_experiment_has_its_section_instead() -> None:
    kept = [
        record
        for record in records()
        if not isinstance(record, (Point, Sample)) or record.point.startswith("stream")
    ]
    kept[0] = msgspec.structs.replace(start(), experiments=["stream"])
    assert analyse_run(run_of(kept)).answer is None


def test_the_screen_has_forty_lines_of_eighty_columns_and_the_answer_last() -> None:
    report = analyse_run(whole_run())
    short = render(report, whole=False)
    lines = short.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert lines[0] == "Memory survey"
    whole = render(report)
    assert len(whole.splitlines()) > 100
    answer = short[short.index("\nBandwidth") :]
    assert whole.endswith(answer)
    assert max(map(len, render(report, width=40, whole=False).splitlines())) <= 40


def test_where_there_is_much_to_say_the_screen_has_less_to_do_and_every_problem() -> None:
    report = analyse_run(whole_run())
    assert report.answer is not None
    lines = [AnswerLine(label="More", figures=[], detail="word " * 15) for _ in range(20)]
    steps = [Verdict(level="warning", text="Busy.", remedy=f"wait {at}") for at in range(5)]
    longer = msgspec.structs.replace(report.answer, lines=lines, next_steps=steps)
    shown = render(msgspec.structs.replace(report, answer=longer), whole=False)
    assert shown.count("Busy: wait") == 2
    assert render(msgspec.structs.replace(report, answer=longer)).count("Busy: wait") == 5
    graver = [msgspec.structs.replace(one, level="problem") for one in steps]
    every = msgspec.structs.replace(longer, next_steps=graver)
    assert render(msgspec.structs.replace(report, answer=every), whole=False).count("wait ") == 5


def test_next_steps_are_few_the_gravest_first_and_each_remedy_once() -> None:
    verdicts = [
        Verdict(level="warning", text="Noise.", remedy=QUIET),
        Verdict(level="good", text="Fine.", remedy="nothing"),
        Verdict(level="warning", text="Small pages.", remedy="use huge pages"),
        Verdict(level="warning", text="More noise.", remedy=QUIET),
        Verdict(level="warning", text="Nothing to do."),
        Verdict(level="note", text="Coarse.", remedy="use --sweep fine"),
        Verdict(level="problem", text="Corrupt.", remedy="test the memory"),
    ]
    assert [one.remedy for one in next_steps(verdicts)] == [
        "test the memory",
        "use huge pages",
        QUIET,
    ]
    assert [one.text for one in next_steps(verdicts[5:6])] == ["Coarse."]
    many = [Verdict(level="warning", text="w", remedy=str(at)) for at in range(20)]
    assert len(next_steps(many)) == MOST_STEPS


def test_a_step_is_the_beginning_of_its_sentence_and_the_remedy() -> None:
    verdict = Verdict(
        level="warning",
        text="Lines on 1 page already miss: pages are split.",
        remedy="ask the host",
    )
    assert step_words(verdict) == "Lines on 1 page already miss: ask the host"
    long = Verdict(level="warning", text="word " * 60, remedy="stop")
    assert len(step_words(long)) < 110
    assert step_words(long).endswith(" …: stop")
    problem = Verdict(level="problem", text="Arrays differ: this may be corruption.", remedy="test")
    assert step_words(problem) == "Arrays differ: this may be corruption. test"
