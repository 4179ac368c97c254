"""The report of a simulated program: labelled as such everywhere, what is not known left out."""

from pathlib import Path

import jsonschema
import msgspec
import pytest

from memgauge.analysis.schema import simulation_schema
from memgauge.analysis.simulated_program import (
    level_text,
    simulated_report,
    simulation_document,
)
from memgauge.model.cache_machine import CacheLevel, CacheMachine
from memgauge.model.simulated_program import ProgramLevel, SimulatedProgram, TrafficPlace
from memgauge.model.storage.schema import schema_text
from memgauge.reports.html.page import render as render_page
from memgauge.reports.terminal.report import render

PUBLISHED = Path(__file__).parents[3] / "docs" / "schema" / "simulation-1.json"
MIB = 1 << 20
MACHINE = CacheMachine(
    name="made-up",
    title="a made-up machine",
    source="made up",
    levels=[CacheLevel(name="L1", bytes=32768, ways=8)],
    assumptions=["nothing is known"],
)


def done(**changes: object) -> SimulatedProgram:
    made = SimulatedProgram(
        command=["./program", "with \x1b[31mcolour"],
        machine=MACHINE,
        engine="trace",
        valgrind="3.19.0",
        levels=[ProgramLevel(level="L1", kind="all", accesses=200, misses=50)],
        load_read_bytes=3 * MIB,
        allocate_read_bytes=MIB,
        instruction_read_bytes=None,
        prefetch_read_bytes=0,
        write_back_bytes=2 * MIB,
        bypass_write_bytes=MIB,
        left_changed_bytes=0,
        left_changed_at_most_bytes=0,
        instructions=None,
        processes=1,
        left_out_processes=None,
        exit_code=0,
        signal=None,
        took_s=1.0,
        notes=["instructions are not simulated"],
    )
    return msgspec.structs.replace(made, **changes)


def test_sums_are_of_all_causes() -> None:
    document = simulation_document(done(instruction_read_bytes=5, prefetch_read_bytes=7))
    assert document.read_bytes == 4 * MIB + 12
    assert document.write_bytes == 3 * MIB
    assert document.basis == "simulated"


def test_the_document_follows_its_schema() -> None:
    document = msgspec.to_builtins(simulation_document(done()))
    jsonschema.Draft202012Validator.check_schema(simulation_schema())
    jsonschema.Draft202012Validator(simulation_schema()).validate(document)


def test_the_published_schema_is_that_of_the_types() -> None:
    assert PUBLISHED.read_text() == schema_text(simulation_schema()), (
        "run: memgauge schema --of simulation > docs/schema/simulation-1.json"
    )


def test_every_table_and_figure_says_that_it_is_simulated() -> None:
    report = simulated_report(done())
    assert "Simulated" in report.title
    assert all("simulated on made-up" in t.title for s in report.sections for t in s.tables)
    assert all("simulated" in one.label for one in report.headlines)
    assert "nothing measured" in report.status


def test_this_machine_is_called_so() -> None:
    this = msgspec.structs.replace(MACHINE, name="this", title="this machine, a CPU")
    report = simulated_report(done(machine=this))
    assert report.machine == "simulated: this machine, a CPU"
    assert ["machine", "this machine, a CPU"] in report.system.rows
    text = render(report)
    assert "Simulated on this machine\n" in text
    assert "by the caches of this machine." in " ".join(text.split())
    assert text.count("this") == text.count("this machine") + text.count("this program")


def test_what_is_not_told_has_no_row() -> None:
    names = [row[0] for row in simulated_report(done()).sections[0].tables[0].rows]
    assert "read by instructions" not in names
    assert "read by prefetchers" not in names
    names = [
        row[0]
        for row in simulated_report(done(instruction_read_bytes=0)).sections[0].tables[0].rows
    ]
    assert "read by instructions" in names


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"left_changed_bytes": MIB}, "At the end, another 1 MiB had been changed"),
        (
            {"left_changed_bytes": None, "left_changed_at_most_bytes": 4 * MIB},
            "Up to 4 MiB that had been changed",
        ),
        ({"processes": 3}, "3 processes are added up"),
        ({"processes": 3}, "what they did between fork and exec is not counted"),
        ({"left_out_processes": 2}, "2 forked processes are left out"),
        (
            {"uncounted_programs": 1, "engine": "callgrind"},
            "1 program is not counted, and every figure is a lower bound",
        ),
        ({"uncounted_programs": 3, "engine": "callgrind"}, "3 programs are not counted"),
        ({"uncounted_programs": 1}, "which the trace engine does not follow"),
    ],
)
def test_what_a_reader_must_know_is_said(changes: dict[str, object], said: str) -> None:
    verdicts = simulated_report(done(**changes)).sections[0].verdicts
    assert any(said in verdict.text for verdict in verdicts)
    plain = simulated_report(done()).sections[0].verdicts
    assert not any(said in verdict.text for verdict in plain)


@pytest.mark.parametrize(
    "changes", [{"uncounted_programs": 1}, {"left_out_processes": 1}, {"processes": 2}]
)
def test_lower_bounds_are_called_so_beside_each_figure(changes: dict[str, int]) -> None:
    report = simulated_report(done(**changes))
    (section,) = report.sections
    assert [one.label for one in report.headlines] == [
        "memory reads, simulated, at least",
        "memory writes, simulated, at least",
    ]
    assert all(table.title.endswith("simulated on made-up, at least") for table in section.tables)
    assert "would give at least 4 MiB and take at least 3 MiB" in section.verdicts[0].text
    assert "at least" not in render(simulated_report(done()))


def test_text_and_page_hold_the_assumptions_and_no_escapes() -> None:
    report = simulated_report(done(signal=9, exit_code=None))
    text = render(report)
    assert "\x1b" not in text
    assert "signal 9" in text
    assert "nothing is known" in render_page(report)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "32 KiB, 8 ways, of each core"),
        ({"ways": 0, "cores": 0}, "32 KiB, fully associative, shared by all cores"),
        (
            {"bytes": 10 * MIB, "cores": 2, "borrows_idle": True},
            "10 MiB, 8 ways, shared by 2 cores, borrows those of idle cores",
        ),
        (
            {"inclusion": "exclusive", "replacement": "tree-plru"},
            "32 KiB, 8 ways, of each core, exclusive, tree-plru",
        ),
    ],
)
def test_a_level_in_words(changes: dict[str, object], words: str) -> None:
    assert level_text(msgspec.structs.replace(MACHINE.levels[0], **changes)) == words


def test_few_bytes_are_told_as_such_and_not_as_no_mebibytes() -> None:
    small = done(
        load_read_bytes=300 * 1024,
        allocate_read_bytes=0,
        write_back_bytes=0,
        bypass_write_bytes=0,
    )
    said = " ".join(v.text for one in simulated_report(small).sections for v in one.verdicts)
    assert "memory would give 300 KiB and take 0 B while" in said


PLACES = [
    TrafficPlace(
        function="solve",
        object="/opt/a.out",
        file="/src/solve.c",
        line=12,
        read_bytes=3 * MIB,
        write_bytes=2 * MIB,
    ),
    TrafficPlace(
        function=None, object="/lib/c.so", file=None, line=None, read_bytes=MIB, write_bytes=0
    ),
]


def test_places_are_shown_with_their_share_and_their_limit() -> None:
    made = done(by="line", places=PLACES, left_out_places=7, without_line_bytes=MIB)
    (table,) = [one for one in simulated_report(made).sections[0].tables if one.name == "places"]
    assert "by line, simulated on made-up" in table.title
    assert table.rows[0] == ["solve.c:12", 3 * MIB, 2 * MIB, 5 / 7, "solve"]
    assert table.rows[1][:2] == ["no symbol", MIB]
    assert table.note is not None
    assert "7 places that moved less are not shown" in table.note
    assert "which may be elsewhere than where the data were changed" in table.note


def test_lines_that_are_not_known_are_said_with_what_to_do() -> None:
    made = done(by="line", places=PLACES, without_line_bytes=MIB)
    text = render(simulated_report(made))
    assert "14% of the traffic is of code without debug information" in text
    assert "-g" in text
    assert "debug information" not in render(simulated_report(done(by="function", places=PLACES)))


def test_without_places_there_is_no_table_of_them() -> None:
    assert all(one.name != "places" for one in simulated_report(done()).sections[0].tables)
