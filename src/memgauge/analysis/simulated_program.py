"""A simulated program as a report: what memory would give and take, and what misses at each level.

Every figure in here is simulated; nothing is measured.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import msgspec

from memgauge.analysis.figures.simulated_places import place_verdicts, places_table, regions_table
from memgauge.analysis.section import Cell, Column, Headline, Report, Section, Table, Verdict
from memgauge.model.cache_machine import THIS, CacheLevel, CacheMachine, machine_name
from memgauge.model.simulated_program import SimulatedProgram
from memgauge.model.text import plain
from memgauge.model.units import GIB, KIB, MIB, format_bytes

NAME = "simulate"
QUESTION = "What would this program read from and write to memory, were its caches those?"
SIMULATION_VERSION = 1
LIMITS = [
    "the caches held nothing in the beginning, and the program had them alone",
    "threads run one at a time and as one core; the operating system's own accesses are not in it",
    "addresses are virtual: pages that collide in a real cache are not seen",
    "prefetchers and time are not simulated, unless the machine's data ask for a prefetcher",
]


class SimulationDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What `simulate --json` prints."""

    version: int
    basis: str
    """`simulated`."""
    read_bytes: int
    """From memory, of all causes,"""
    write_bytes: int
    """and to it, while the program ran."""
    program: SimulatedProgram


def simulation_document(done: SimulatedProgram) -> SimulationDocument:
    """The figures as plain data."""
    return SimulationDocument(
        version=SIMULATION_VERSION,
        basis="simulated",
        read_bytes=done.read_bytes,
        write_bytes=done.write_bytes,
        program=done,
    )


def simulated_report(done: SimulatedProgram) -> Report:
    """What every renderer takes."""
    places, regions = places_table(done, _name(done)), regions_table(done, _name(done))
    section = Section(
        name=NAME,
        title=f"Simulated on {_name(done)}",
        question=QUESTION,
        verdicts=[*_verdicts(done), *place_verdicts(done)],
        tables=[
            _memory(done),
            *([regions] if regions else []),
            *([places] if places else []),
            _levels(done),
        ],
    )
    return Report(
        run_id=NAME,
        started_at="",
        title=f"Simulated memory traffic of {plain(done.command[0])}",
        machine=f"simulated: {_named(done.machine, ', ')}",
        complete=done.signal is None,
        status=_status(done),
        verdicts=[],
        sections=[section],
        system=machine_table(done),
        headlines=[
            Headline(
                label=f"memory reads, simulated{_bound(done)}",
                value=done.read_bytes,
                unit="B",
                detail=_name(done),
            ),
            Headline(
                label=f"memory writes, simulated{_bound(done)}",
                value=done.write_bytes,
                unit="B",
                detail=_name(done),
            ),
        ],
    )


def machine_table(done: SimulatedProgram) -> Table:
    """The machine, what was assumed of it, and what the engine has otherwise."""
    machine = done.machine
    rows: list[list[Cell]] = [
        ["command", plain(shlex.join(done.command))],
        ["machine", _named(machine, ": ")],
        ["source", machine.source],
    ]
    rows += [[level.name, level_text(level)] for level in machine.levels]
    rows += [["engine", f"{done.engine}, valgrind {done.valgrind}"]]
    rows += [["engine", note] for note in done.notes]
    rows += [["assumed", assumption] for assumption in machine.assumptions]
    rows += [["limit", limit] for limit in LIMITS]
    return Table(
        name="machine",
        title="What was simulated",
        columns=[Column(title="what"), Column(title="value")],
        rows=rows,
    )


def level_text(level: CacheLevel) -> str:
    """One level in words: size, ways, sharing, how it relates to the others."""
    ways = f"{level.ways} ways" if level.ways else "fully associative"
    shared = {0: "shared by all cores", 1: "of each core"}
    words = [
        format_bytes(level.bytes),
        ways,
        shared.get(level.cores, f"shared by {level.cores} cores"),
        *([level.inclusion] if level.inclusion != "non-inclusive" else []),
        *(["tree-plru"] if level.replacement == "tree-plru" else []),
        *(["borrows those of idle cores"] if level.borrows_idle else []),
    ]
    return ", ".join(words)


def _name(done: SimulatedProgram) -> str:
    """Of the machine, in a sentence."""
    return machine_name(done.machine.name)


def _named(machine: CacheMachine, between: str) -> str:
    """Name and title; the title of this one begins with its name."""
    return machine.title if machine.name == THIS else f"{machine.name}{between}{machine.title}"


def _status(done: SimulatedProgram) -> str:
    how = f"signal {done.signal}" if done.signal is not None else f"exit code {done.exit_code}"
    return (
        f"simulated by {done.engine}, nothing measured; the program ended with {how} after "
        f"{done.took_s:.1f} s under valgrind"
    )


def _verdicts(done: SimulatedProgram) -> Iterator[Verdict]:
    least = "at least " if done.is_lower_bound else ""
    yield Verdict(
        level="note",
        text=f"Simulated: memory would give {least}{_amount(done.read_bytes)} and take {least}"
        f"{_amount(done.write_bytes)} while the program ran, by the "
        f"caches of {_name(done)}.",
    )
    yield from _left_changed(done)
    yield from _uncounted(done)
    if done.processes > 1:
        text = (
            f"{done.processes} processes are added up, each with caches of its own; what they did "
            "between fork and exec is not counted."
        )
        yield Verdict(level="note", text=text)
    if done.left_out_processes:
        yield Verdict(
            level="warning",
            text=f"{done.left_out_processes} forked processes are left out: callgrind "
            "reports no more about them than their counts added to those of their "
            "parent.",
            remedy="simulate what they do as a program of its own",
        )


def _uncounted(done: SimulatedProgram) -> Iterator[Verdict]:
    """Programs that are in no figure."""
    count = done.uncounted_programs
    if count and done.engine == "trace":
        yield Verdict(
            level="warning",
            text="The program started another one in its place (exec), which the trace engine does "
            "not follow: every figure is a lower bound.",
            remedy="simulate that other program by itself, or use --engine callgrind",
        )
    elif count:
        programs = "1 program is" if count == 1 else f"{count} programs are"
        yield Verdict(
            level="warning",
            text=f"{programs} not counted, and every figure is a lower bound: callgrind loses the "
            "counts of a program that starts another one in its place (exec), that is killed, or "
            "that has not ended when the first one has.",
            remedy="simulate that program by itself, or start the other one without exec",
        )


def _bound(done: SimulatedProgram) -> str:
    """What is added to the name of a figure."""
    return ", at least" if done.is_lower_bound else ""


def _left_changed(done: SimulatedProgram) -> Iterator[Verdict]:
    """What the caches still held in the end, which is among no writes."""
    if done.left_changed_bytes:
        yield Verdict(
            level="note",
            text=f"At the end, another {_amount(done.left_changed_bytes)} had been changed in the "
            "caches but not yet written to memory.",
        )
    elif done.left_changed_bytes is None and done.write_bytes:
        yield Verdict(
            level="note",
            text=f"Up to {_amount(done.left_changed_at_most_bytes)} that had been changed in the "
            "caches but not yet written to memory at the end are not included in the writes.",
            remedy="--engine trace counts them",
        )


def _amount(count: int) -> str:
    """As the tables have it: few bytes are not zero, and none are no fraction of a MiB."""
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if count >= unit:
            return f"{count / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{count} B"


def _memory(done: SimulatedProgram) -> Table:
    """By what asked first."""
    reads: list[tuple[str, int | None]] = [
        ("read by loads", done.load_read_bytes),
        ("read by stores (allocate)", done.allocate_read_bytes),
        ("read by instructions", done.instruction_read_bytes),
        ("read by prefetchers", done.prefetch_read_bytes or None),
        ("read, all", done.read_bytes),
        ("written back", done.write_back_bytes),
        ("written past the caches", done.bypass_write_bytes or None),
        ("written, all", done.write_bytes),
        ("left changed in caches", done.left_changed_bytes),
    ]
    return Table(
        name="memory",
        title=f"Memory traffic, simulated on {_name(done)}{_bound(done)}",
        columns=[Column(title="what"), Column(title="bytes", unit="B"), Column(title="in bytes")],
        rows=[[name, count, count] for name, count in reads if count is not None],
    )


def _levels(done: SimulatedProgram) -> Table:
    return Table(
        name="levels",
        title=f"Accesses and misses, simulated on {_name(done)}{_bound(done)}",
        columns=[
            Column(title="level"),
            Column(title="of"),
            Column(title="accesses"),
            Column(title="misses"),
            Column(title="miss rate", unit="%"),
        ],
        rows=[
            [
                one.level,
                "loads and stores" if one.kind == "all" else one.kind,
                one.accesses,
                one.misses,
                one.misses / one.accesses if one.accesses else None,
            ]
            for one in done.levels
        ],
    )
