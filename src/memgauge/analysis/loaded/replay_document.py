"""A replayed profile as data, for `--json`."""

from __future__ import annotations

import msgspec

from memgauge.analysis.document_figure import Figure, figure
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.loaded.replay import StepFigures, replay_figures
from memgauge.model.counting.events import Basis
from memgauge.model.record_kinds.replayed import Pieces


class ReplayedStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the profile."""

    step: int
    """From 1, in order of time."""
    begin_s: float
    """On the profile's time."""
    end_s: float
    counted_s: float
    """Of that, the time in which traffic was counted."""
    asked_gb_per_s: float
    """As the profile counted it."""
    asked_read_share: float | None
    """None: nothing was moved."""
    gb_per_s: Figure | None
    """That memory moved for the generators, by their count and the model of write-allocate."""
    read_share: float | None
    as_asked: bool | None
    """Whether rate and share of reads are those asked, but for a tenth, 0.1 GB/s and 2 points of
    the share; None: not measured."""
    most_gb_per_s: float | None
    """What the generators reached without a pause, where it is less than asked."""
    latency_ns: Figure | None
    slowdown: Figure | None
    """Times the latency without load of the same replay."""
    p99_ns: Figure | None
    """Of loads timed one by one."""
    latency_point: str
    traffic_point: str
    replays: int
    passes: int
    set_aside: int


class ReplayDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A profile replayed as the load beside the probe."""

    profile_run_id: str
    profile_started_at: str
    command: str
    basis: Basis
    """Of the profile's traffic: measured by counters, modelled, or simulated."""
    counters: list[str]
    trust: str
    """What verification found of these counters."""
    read_share_given: float | None
    same_machine: bool
    """Whether it was profiled on the machine that replays it."""
    pieces_of: Pieces
    pieces: int
    """Phases or bins that the steps were condensed from."""
    variation_kept: float | None
    """Share of the variance of its rates that lies between the steps; None: they hardly vary."""
    busiest_gb_per_s: float
    bin_s: float
    """Of the stretches that `variation_kept` and `busiest_gb_per_s` look at."""
    profile_s: float
    unknown_s: float
    replay_s: float
    compression: float
    """Seconds of the profile in one of the replay; 1: at its own time."""
    latency_ns: Figure | None
    """Mean over the profile's time; None: no replay is whole."""
    slowdown: Figure | None
    unloaded_ns: Figure | None
    lower_bound: bool
    """Whether a step got less traffic than asked: latency beside all of it may be longer."""
    worst_step: int | None
    replays: int
    whole_replays: int
    steps: list[ReplayedStep]


def replay_document(figures: Figures) -> ReplayDocument | None:
    """The replay of a run; None where it replays nothing."""
    found = replay_figures(figures)
    if found is None:
        return None
    made, worst = found.replayed, found.worst
    return ReplayDocument(
        profile_run_id=made.run_id,
        profile_started_at=made.started_at,
        command=made.command,
        basis=made.basis,
        counters=made.counters,
        trust=made.trust,
        read_share_given=made.read_share_given,
        same_machine=not found.elsewhere,
        pieces_of=made.pieces_of,
        pieces=made.pieces,
        variation_kept=made.variation_kept,
        busiest_gb_per_s=made.busiest_gb_per_s,
        bin_s=made.bin_s,
        profile_s=made.profile_s,
        unknown_s=made.unknown_s,
        replay_s=made.replay_s,
        compression=made.compression,
        latency_ns=figure(found.latency),
        slowdown=figure(found.slowdown),
        unloaded_ns=figure(found.unloaded.latency),
        lower_bound=found.is_lower_bound,
        worst_step=None if worst is None else worst.number,
        replays=found.replays,
        whole_replays=found.whole_replays,
        steps=[one for step in found.steps for one in _step(step)],
    )


def _step(one: StepFigures) -> list[ReplayedStep]:
    step = one.step
    if step is None:
        return []
    measured = one.gb_per_s is not None
    return [
        ReplayedStep(
            step=one.number,
            begin_s=step.begin_s,
            end_s=step.end_s,
            counted_s=step.known_s,
            asked_gb_per_s=step.gb_per_s,
            asked_read_share=step.read_share,
            gb_per_s=figure(one.gb_per_s),
            read_share=one.read_share,
            as_asked=not (one.misses or one.misses_share) if measured else None,
            most_gb_per_s=one.actual.most_gb_per_s,
            latency_ns=figure(one.latency),
            slowdown=figure(one.slowdown),
            p99_ns=figure(one.times.p99 if one.times else None),
            latency_point=one.names[0],
            traffic_point=one.names[1],
            replays=one.replays,
            passes=one.passes,
            set_aside=one.set_aside,
        )
    ]
