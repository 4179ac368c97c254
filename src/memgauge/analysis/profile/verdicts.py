"""Verdicts on a profile: its program's end, missing data, and doubtful figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.profile.duplicate_tracks import CHECKS, event_of
from memgauge.analysis.profile.lanes import Pace
from memgauge.analysis.profile.moments import begins, lasts
from memgauge.analysis.profile.phases import Phase
from memgauge.analysis.profile.process_lifetime import is_own
from memgauge.analysis.profile.routes import route_verdicts
from memgauge.analysis.profile.timeline import Timeline, Traced
from memgauge.analysis.profile.tracks import Track
from memgauge.analysis.profile.usage import peak_of, usage_of
from memgauge.analysis.section import Verdict
from memgauge.model.record_kinds.programs import Process
from memgauge.model.run import Run
from memgauge.model.text import plain
from memgauge.model.units import format_bytes, format_count, format_duration

LATE_SHARE = 0.02
"""Of readings: more late ones, and sampling did not keep pace."""
ESTIMATES_SHARE = 0.01
AGREE = 0.05
"""Of the larger: two routes that are further apart disagree,"""
THROUGHOUT = 0.95
"""where both are known for this share of the time."""
_COMPONENTS = {
    "memory": "memory traffic",
    "gpu": "GPU",
    "energy": "power of the processors",
    "network": "network",
    "process": "the process's own figures",
}


def verdicts_of(
    run: Run, timeline: Timeline | None, phases: Sequence[Phase], notes: Sequence[str]
) -> list[Verdict]:
    """All verdicts on a profile, whether or not anything could be read.

    Args:
        run: Run of the profile.
        timeline: Timeline of the run; None: no reading is usable.
        phases: Phases of the timeline in their order; empty without a timeline.
        notes: What had to be left out of the timeline, a clause each.
    """
    found = [*_processes(run), *_unfinished(run)]
    if timeline is None:
        text = "No reading is usable, so there is no timeline."
        found.append(Verdict(level="problem", text=text))
    else:
        found += _phases(phases)
        found += [verdict for pace in timeline.paces for verdict in _pace(pace)]
        found += _modelled(timeline.tracks)
        found += [verdict for traced in timeline.tracks for verdict in _track(traced)]
        found += _agreement(timeline)
        found += route_verdicts(timeline)
        found += _missing(run, timeline.tracks)
    found += [Verdict(level="warning", text=_sentence(note)) for note in notes]
    opening = [note for counters in run.counters.values() for note in counters.notes]
    found += [
        Verdict(level="note", text=_sentence(note), about="conditions")
        for note in dict.fromkeys(opening)
    ]
    return found


def command_of(process: Process) -> str:
    """The command line, shortened where it is long."""
    text = plain(" ".join(process.command)) or f"process {process.pid}"
    return text if len(text) <= 60 else text[:57] + "..."


def ending_of(process: Process) -> str:
    """Description of how a process ended."""
    if process.end_ns is None:
        return "still ran when profiling ended"
    lasted = format_duration((process.end_ns - process.begin_ns) * 1e-9)
    if process.signal is not None:
        return f"was ended by signal {process.signal} after {lasted}"
    if process.exit_code is None:
        return f"ended after {lasted}"
    return f"exited with {process.exit_code} after {lasted}"


def _processes(run: Run) -> Iterator[Verdict]:
    for process in run.processes:
        if process.end_ns is None and run.end is None:
            continue
        failed = process.signal is not None or process.exit_code not in {0, None}
        yield Verdict(level="warning" if failed else "note", text=f"{process_words(run, process)}.")


def process_words(run: Run, process: Process) -> str:
    """Which program it was, how it ended, and what it used."""
    return f"{command_of(process)} (pid {process.pid}) {ending_of(process)}{_used(run)}"


def _used(run: Run) -> str:
    """What a program used in all, where the kernel said so."""
    usage, peak = usage_of(run), peak_of(run)
    process = run.processes[0]
    if usage is None or process.end_ns is None:
        return ""
    cpu_s = usage.user_s + usage.system_s
    lasted_s = max(1e-9, (process.end_ns - process.begin_ns) * 1e-9)
    held = ""
    if peak is not None:
        bound = f"{peak.bound} " if peak.bound else ""
        held = f"; its largest process held {bound}{format_bytes(peak.bytes)}"
    return f"; it used {format_duration(cpu_s)} of CPU time ({cpu_s / lasted_s:.2f} cores){held}"


def _unfinished(run: Run) -> Iterator[Verdict]:
    if run.end is None:
        text = (
            "Profiling was killed or is still running: up to the last second of readings, and how "
            "the program ended, may be missing."
        )
        yield Verdict(level="warning", text=text)


def _phases(phases: Sequence[Phase]) -> Iterator[Verdict]:
    text = phases_words(phases)
    yield Verdict(level="note", text=f"{text[:1].upper()}{text[1:]}.")


def phases_words(phases: Sequence[Phase]) -> str:
    """How many phases there are, and the longest."""
    if len(phases) == 1:
        return "no change of phase stands out from the noise of the tracks"
    at = max(range(len(phases)), key=lambda one: phases[one].duration_s)
    longest = phases[at]
    return (
        f"{format_count(len(phases), 'phase')}; the longest is phase {longest.number}, "
        f"which begins at {begins(longest)} s and lasts {lasts(phases, at)} s"
    )


def _pace(pace: Pace) -> Iterator[Verdict]:
    share = pace.late / (pace.readings - 1)
    kept = share <= LATE_SHARE
    requested_s = pace.requested_ns * 1e-9
    busy = pace.reading_ns / pace.requested_ns
    how = "kept" if kept else "did not keep"
    text = (
        f"Sampling of {plain(pace.counters)} {how} pace: {pace.readings:,} readings every "
        f"{format_duration(requested_s)} as requested, {share:.1%} of them late, the longest pause "
        f"{format_duration(pace.longest_ns * 1e-9)}; a reading took "
        f"{format_duration(pace.reading_ns * 1e-9)}, {busy:.1%} of the time."
    )
    if kept:
        yield Verdict(level="good", text=text, about="conditions")
    else:
        remedy = "sample less often (--rate), or leave a CPU free for the sampler"
        yield Verdict(level="warning", text=text, remedy=remedy)


def _modelled(tracks: Sequence[Traced]) -> Iterator[Verdict]:
    if any(traced.track.basis != "measured" for traced in tracks):
        text = (
            "Some memory traffic on this timeline is modelled, not measured, and is labelled as "
            "modelled."
        )
        yield Verdict(level="warning", text=text)


def _track(traced: Traced) -> Iterator[Verdict]:
    name = plain(traced.track.name)
    if traced.went_back:
        yield Verdict(
            level="warning",
            text=f"{name}: the counter decreased {format_count(traced.went_back, 'time')}, as "
            "after a restart of its device or daemon; the track has gaps there.",
        )
    intervals = sum(1 for high in traced.high if high is not None)
    if traced.estimates > ESTIMATES_SHARE * max(1, intervals):
        yield Verdict(
            level="warning",
            text=f"{name}: in {traced.estimates:,} intervals the counter shared its hardware "
            "with others; its values are estimates there.",
            remedy="request fewer events at once",
        )
    if traced.known_s <= 0:
        yield _never(name, traced.track)


def _never(name: str, track: Track) -> Verdict:
    if track.gauge and is_own(track):
        text = f"{name}: not read twice while the program ran, so no rate is known."
        return Verdict(
            level="note", text=text, remedy="sample more often (--rate)", about="conditions"
        )
    return Verdict(level="warning", text=f"{name}: could not be read at any time.")


def _agreement(timeline: Timeline) -> Iterator[Verdict]:
    """Of what two routes count."""
    by_event = {event_of(t.track): t for t in (*timeline.tracks, *timeline.doubles)}
    for check in CHECKS:
        parts = [by_event.get(event) for event in (check.shown, *check.others)]
        totals = [
            t.total(0, timeline.bins) if t and _throughout(t, timeline) else None for t in parts
        ]
        known = [total for total in totals if total is not None]
        if len(known) < len(totals) or max(known[0], sum(known[1:])) < check.least:
            continue
        shown, other = known[0], sum(known[1:])
        apart = abs(other - shown) / max(shown, other)
        fine = apart <= AGREE
        what = f"{check.what} of the program by perf and by /proc"
        how = "agree within" if fine else "differ by"
        yield Verdict(
            level="good" if fine else "warning",
            text=f"{what} {how} {max(apart, 0.001):.1%}; the figure from perf is shown.",
            about="conditions" if fine else "result",
        )


def _throughout(traced: Traced, timeline: Timeline) -> bool:
    """All but where its lane began later or ended earlier than others."""
    span_s = (timeline.end_ns - timeline.begin_ns) * 1e-9
    return traced.known_s >= THROUGHOUT * span_s


def _missing(run: Run, tracks: Sequence[Traced]) -> Iterator[Verdict]:
    """Components without a track; why is in the run's warnings, which stand above."""
    present = {traced.track.domain for traced in tracks}
    lacking = [words for domain, words in _COMPONENTS.items() if domain not in present]
    if lacking:
        why = "; warnings say why" if run.warnings else ""
        text = f"Not on this timeline: {', '.join(lacking)}{why}."
        yield Verdict(level="note", text=text, about="conditions")


def _sentence(note: str) -> str:
    """With a capital letter, unless it begins with the name of a lane's file."""
    text = plain(note)
    named = text.partition(": ")[0].endswith(".lane")
    return text if named else text[:1].upper() + text[1:]
