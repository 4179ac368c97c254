"""What a replayed profile says in plain words, and what was lost on the way to it."""

from __future__ import annotations

from collections.abc import Iterator

from memgauge.analysis.loaded.figures import read_share_text
from memgauge.analysis.loaded.replay import ReplayFigures, StepFigures
from memgauge.analysis.section import QUIET, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.model.record_kinds.replayed import Replayed, ReplayStep
from memgauge.model.text import plain
from memgauge.model.units import format_count, format_duration

MOST_NAMED = 4
"""Steps that a sentence lists."""
OWN_TIME = 1.005
"""Compression below which a replay is called one at the profile's own time."""
WORTH_SAYING_S = 0.01
"""Share of the profile whose traffic is not known."""
LITTLE_KEPT = 0.5
VERIFIED = "verified"
LOWER_BOUNDS = "Latency there, and the mean, are lower bounds."


def replay_verdicts(found: ReplayFigures) -> list[Verdict]:
    """The answer first, then what spoils it, then how the profile was condensed."""
    return [
        *_answer(found),
        *_worst(found),
        *_basis(found),
        *_elsewhere(found),
        *_short(found),
        *_missed(found),
        *_shares(found),
        *_not_whole(found),
        *_condensed(found.replayed),
        *_unknown(found.replayed),
        *_time(found.replayed),
    ]


def what(replayed: Replayed) -> str:
    """The profile, in few words; says so if its traffic is not measured."""
    command = plain(replayed.command) or f"run {plain(replayed.run_id)}"
    return command if replayed.basis == "measured" else f"{command} ({replayed.basis} traffic)"


def asked(step: ReplayStep) -> str:
    """What a step asks for, such as `18.2 GB/s at 75% reads`."""
    share = step.read_share
    mix = "" if share is None else f" at {read_share_text(round(share, 3))}"
    return f"{step.gb_per_s:.3g} GB/s{mix}"


def span(step: ReplayStep) -> str:
    """When a step is, on the profile's time."""
    return f"{format_duration(step.begin_s)} to {format_duration(step.end_s)} of the profile"


def times(estimate: Estimate) -> str:
    """A ratio with its interval, such as `1.24 times (1.21 to 1.27)`."""
    if not has_interval(estimate):
        return f"{estimate.value:.2f} times"
    return f"{estimate.value:.2f} times ({estimate.low:.2f} to {estimate.high:.2f})"


def _answer(found: ReplayFigures) -> Iterator[Verdict]:
    idle = found.unloaded.latency
    if found.latency is None or found.slowdown is None or idle is None:
        yield Verdict(
            level="warning",
            text=(
                "Latency over the whole profile cannot be told: no replay has a usable pass of "
                f"every step ({format_count(found.replays, 'replay')})."
            ),
            remedy=QUIET,
        )
        return
    least = "at least " if found.is_lower_bound else ""
    yield Verdict(
        level="good",
        text=(
            f"Next to {what(found.replayed)} a load from memory takes {least}"
            f"{found.latency.value:.0f} ns, the mean over its time: {times(found.slowdown)} the "
            f"{idle.value:.0f} ns without it in the same "
            f"{format_count(found.whole_replays, 'replay')}."
        ),
    )


def _worst(found: ReplayFigures) -> Iterator[Verdict]:
    worst = found.worst
    if worst is None or worst.latency is None or worst.step is None or len(found.steps) < 2:
        return
    slower = "" if worst.slowdown is None else f", {times(worst.slowdown)} that without it"
    least = "at least " if worst.falls_short else ""
    yield Verdict(
        level="note",
        text=(
            f"It is worst in step {worst.number} ({span(worst.step)}, {asked(worst.step)}): "
            f"{least}{worst.latency.value:.0f} ns{slower}."
        ),
    )


def _basis(found: ReplayFigures) -> Iterator[Verdict]:
    replayed = found.replayed
    if replayed.basis != "measured":
        yield Verdict(
            level="warning",
            text=(
                f"The profile's traffic is {replayed.basis}, not measured: the latency is that "
                "next to a load which no counter has seen."
            ),
            remedy="profile where the memory's own counters can be read",
        )
    elif not replayed.trust.startswith(VERIFIED):
        yield Verdict(
            level="warning",
            text=(
                f"The profile's counters of memory traffic: {plain(replayed.trust)}. What it asks "
                "for may be wrong."
            ),
            remedy="memgauge counters verify, on the machine that was profiled; then profile again",
        )
    if replayed.read_share_given is not None:
        yield Verdict(
            level="warning",
            text=(
                "The profile's counters do not distinguish reads from writes: all of it was "
                f"replayed at the given {read_share_text(replayed.read_share_given)}."
            ),
        )


def _elsewhere(found: ReplayFigures) -> Iterator[Verdict]:
    if found.elsewhere:
        model = plain(found.replayed.cpu_model)
        yield Verdict(
            level="note",
            text=(
                f"It was profiled on another machine ({model}); there it may have been held back "
                "by that memory, and would move more or less here."
            ),
        )


def _short(found: ReplayFigures) -> Iterator[Verdict]:
    """Steps at the generators' limit, and others, which something held back."""
    short = [one for one in found.steps if one.falls_short]
    limited = [one for one in short if one.actual.most_gb_per_s is not None]
    held_back = [one for one in short if one.actual.most_gb_per_s is None]
    if limited:
        yield Verdict(
            level="warning",
            text=f"{_less(limited)}, which is all that these generators reach. {LOWER_BOUNDS}",
            remedy="allow more CPUs (--threads, --cpus, --nodes), or replay on a machine with more",
        )
    if held_back:
        text = f"{_less(held_back)}, though these generators can do more. {LOWER_BOUNDS}"
        yield Verdict(level="warning", text=text, remedy=QUIET)


def _less(short: list[StepFigures]) -> str:
    furthest = min(short, key=_reached)
    got = furthest.gb_per_s.value if furthest.gb_per_s is not None else 0.0
    return (
        f"{_steps(short)} got less traffic than the profile has there; furthest off is step "
        f"{furthest.number}, which asks for {_asked(furthest)} and got {got:.3g} GB/s"
    )


def _reached(one: StepFigures) -> float:
    """Share of what was asked that was moved."""
    if one.step is None or one.gb_per_s is None or not one.step.gb_per_s:
        return 1.0
    return one.gb_per_s.value / one.step.gb_per_s


def _asked(one: StepFigures) -> str:
    return "" if one.step is None else asked(one.step)


def _steps(found: list[StepFigures]) -> str:
    named = ", ".join(str(one.number) for one in found[:MOST_NAMED])
    if len(found) > MOST_NAMED:
        named += f" and {len(found) - MOST_NAMED} more"
    return f"Step {named}" if len(found) == 1 else f"Steps {named}"


def _missed(found: ReplayFigures) -> Iterator[Verdict]:
    above = [one for one in found.steps if one.misses and not one.falls_short]
    if not above:
        return
    furthest = max(above, key=_reached)
    got = furthest.gb_per_s.value if furthest.gb_per_s is not None else 0.0
    yield Verdict(
        level="warning",
        text=(
            f"{_steps(above)} got more traffic than the profile has there; furthest off is step "
            f"{furthest.number}, which asks for {_asked(furthest)} and got {got:.3g} GB/s."
        ),
        remedy="use fewer --threads for a profile with little traffic, or a quiet machine",
    )


def _shares(found: ReplayFigures) -> Iterator[Verdict]:
    off = [one for one in found.steps if one.misses_share]
    if not off:
        return
    furthest = max(off, key=_share_off)
    got = read_share_text(round(furthest.read_share or 0.0, 3))
    yield Verdict(
        level="warning",
        text=(
            f"{_steps(off)} had another share of reads than the profile: furthest off is step "
            f"{furthest.number}, which asks for {_asked(furthest)} and got {got}. Ordinary stores "
            "read a line before they write it, so with them at least half is read."
        ),
        remedy="allow both kinds of stores (leave --store out), on a processor that has "
        "non-temporal ones",
    )


def _share_off(one: StepFigures) -> float:
    asked_share = None if one.step is None else one.step.read_share
    if asked_share is None or one.read_share is None:
        return 0.0
    return abs(one.read_share - asked_share)


def _not_whole(found: ReplayFigures) -> Iterator[Verdict]:
    left_out = found.replays - found.whole_replays
    if not left_out or not found.whole_replays:
        return
    yield Verdict(
        level="warning" if left_out > found.whole_replays else "note",
        text=(
            f"{left_out} of {format_count(found.replays, 'replay')} are not in the mean: in them a "
            "step has no pass in which all threads ran undisturbed."
        ),
        remedy=QUIET,
        about="conditions",
    )


def _condensed(replayed: Replayed) -> Iterator[Verdict]:
    steps = len(replayed.steps)
    pieces = format_count(replayed.pieces, replayed.pieces_of.removesuffix("s"))
    kept = replayed.variation_kept
    if replayed.pieces == steps:
        made = f"Each of the profile's {pieces} is a step"
    else:
        made = f"The profile's {pieces} were condensed to {format_count(steps, 'step')}"
    lost = (
        " Its rates hardly vary."
        if kept is None
        else f" Between them lies {kept:.0%} of the variation of its rates, the rest inside."
    )
    busiest = max(step.gb_per_s for step in replayed.steps)
    yield Verdict(
        level="note" if kept is None or kept >= LITTLE_KEPT else "warning",
        text=(
            f"{made}; bytes and time are conserved.{lost} Its busiest "
            f"{format_duration(replayed.bin_s)} had {replayed.busiest_gb_per_s:.3g} GB/s, its "
            f"busiest step has {busiest:.3g}."
        ),
        remedy=None
        if kept is None or kept >= LITTLE_KEPT
        else "give more --steps; variation faster than the profile's phases is not replayed",
    )


def _unknown(replayed: Replayed) -> Iterator[Verdict]:
    taken_s = sum(step.duration_s - step.known_s for step in replayed.steps)
    missing = []
    if replayed.unknown_s > WORTH_SAYING_S * replayed.profile_s:
        missing.append(f"{format_duration(replayed.unknown_s)} of it are not replayed")
    if taken_s > WORTH_SAYING_S * replayed.profile_s:
        missing.append(f"{format_duration(taken_s)} take the rates of their step")
    if missing:
        text = f"Traffic was not counted all the time: {' and '.join(missing)}."
        yield Verdict(level="note", text=text)


def _time(replayed: Replayed) -> Iterator[Verdict]:
    lasted, takes = format_duration(replayed.steps_s), format_duration(replayed.replay_s)
    if replayed.compression < OWN_TIME:
        yield Verdict(level="note", text=f"Replayed at the profile's own time, {lasted}.")
        return
    yield Verdict(
        level="note",
        text=(
            f"Time is shortened {replayed.compression:.3g} times: a replay of {lasted} takes "
            f"{takes}, all steps alike."
        ),
        remedy="a larger --budget replays closer to the profile's own time",
    )
