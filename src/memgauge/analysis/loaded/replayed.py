"""What `loaded --like` replays of a profile: its counted traffic over time, condensed to steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from memgauge.analysis.counters_verify.messages import trust_in
from memgauge.analysis.loaded.condensing import Piece, condensed, variation_kept
from memgauge.analysis.profile.phases import FLOORS, Roles, phases_of, roles_of
from memgauge.analysis.profile.section import is_profile
from memgauge.analysis.profile.timeline import Timeline, Traced, timeline_of
from memgauge.analysis.profile.verdicts import command_of
from memgauge.model.errors import RequestError
from memgauge.model.record_kinds.replayed import SHORTEST_S, Pieces, Replayed, ReplayStep
from memgauge.model.records import NOT_WATCHED
from memgauge.model.run import Run
from memgauge.model.text import plain, shortened

MOST_BINS = 400
"""Stretches of equal length in which variation is looked at, and which make the steps of a profile
without phases."""
WORTH = 0.05
"""Share of the variance that a border between two steps accounts for, of a profile without phases:
borders inside noise are worth less."""
LEAST_BYTES_PER_S = FLOORS["read_bytes"]
"""Rates that differ by less are the same, as for phases."""
MOST_REASON = 300
"""Characters of a recorded reason."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """How a profile is to be replayed."""

    steps: int
    """At most."""
    longest_s: float
    """One replay takes so long at most."""
    read_share: float | None = None
    """Of a profile that does not distinguish reads from writes."""


class _Counted(msgspec.Struct, frozen=True, kw_only=True):
    """The tracks that are added up."""

    reads: Sequence[Traced]
    writes: Sequence[Traced]
    """Empty where `read_share` splits what `reads` holds."""
    read_share: float | None

    @property
    def tracks(self) -> list[Traced]:
        return [*self.reads, *self.writes]


def replayed_of(run: Run, name: str, wanted: Wanted) -> Replayed:
    """The steps of a profile.

    Args:
        run: Run that may be a profile.
        name: Its directory, as messages name it.
        wanted: How it is to be replayed.

    Raises:
        RequestError: it is no profile, or has no counted traffic to replay.
    """
    if not is_profile(run):
        raise RequestError(
            f"--like {name}: is no profile, but a run of {', '.join(run.start.experiments)}; name "
            "the directory of a run of 'memgauge profile'"
        )
    timeline, _ = timeline_of(run)
    if timeline is None:
        raise RequestError(
            f"--like {name}: has no usable readings of counters; record the profile again"
        )
    counted = _counted(run, name, roles_of(timeline), wanted)
    return _condensed(run, name, timeline, counted, wanted)


def _counted(run: Run, name: str, roles: Roles, wanted: Wanted) -> _Counted:
    if roles.reads and roles.writes:
        if wanted.read_share is not None:
            raise RequestError(
                f"--read-share: the profile {name} has its own shares of reads; leave it out"
            )
        return _Counted(reads=roles.reads, writes=roles.writes, read_share=None)
    if not (roles.reads or roles.writes or roles.traffic):
        raise RequestError(
            f"--like {name}: has no counted memory traffic{_reason(run)}; replaying needs "
            "bytes read and written: profile where the memory's own counters can be read "
            "('memgauge counters' lists what this machine allows)"
        )
    if not roles.traffic:
        counted, lacking = ("reads", "writes") if roles.reads else ("writes", "reads")
        raise RequestError(
            f"--like {name}: has counted {counted} of memory and no {lacking}; profile with "
            "counters of both"
        )
    if wanted.read_share is None:
        raise RequestError(
            f"--like {name}: its counters do not distinguish reads from writes; add the share of "
            "reads that all of it is to be replayed with, such as --read-share 67%"
        )
    return _Counted(reads=roles.traffic, writes=[], read_share=wanted.read_share)


def _reason(run: Run) -> str:
    """Why memory was not watched, where the profile says so."""
    for warning in run.warnings:
        if warning.code == NOT_WATCHED and warning.message.startswith("memory:"):
            return f" ({shortened(plain(warning.message), MOST_REASON)})"
    return ""


def _condensed(
    run: Run, name: str, timeline: Timeline, counted: _Counted, wanted: Wanted
) -> Replayed:
    width = max(1, math.ceil(timeline.bins / MOST_BINS))
    edges = [*range(0, timeline.bins, width), timeline.bins]
    fine = _pieces(timeline, counted, edges)
    phases = phases_of(timeline)
    kind: Pieces = "phases" if len(phases) > 1 else "bins"
    borders = [0, *(phase.end_bin for phase in phases)] if kind == "phases" else edges
    pieces = _pieces(timeline, counted, borders)
    if not any(sum(one.amounts) > 0 for one in pieces):
        raise RequestError(
            f"--like {name}: its counters counted no traffic of memory; name a profile of a "
            "program that uses memory"
        )
    steps = condensed(pieces, wanted.steps, WORTH if kind == "bins" else 0.0, LEAST_BYTES_PER_S)
    lasted_s = sum(one.end_s - one.begin_s for one in steps)
    process = run.processes[0] if run.processes else None
    start = run.start
    return Replayed(
        run_id=start.run_id,
        started_at=start.started_at,
        command=command_of(process) if process is not None else "",
        machine_id=start.system.machine_id,
        cpu_model=start.system.cpu_model,
        basis=counted.tracks[0].track.basis,
        counters=[traced.track.name for traced in counted.tracks],
        trust=trust_in(one for traced in counted.tracks for one in traced.track.counters),
        read_share_given=counted.read_share,
        pieces_of=kind,
        pieces=len(pieces),
        bin_s=width * timeline.bin_ns * 1e-9,
        variation_kept=variation_kept(fine, steps, LEAST_BYTES_PER_S),
        busiest_gb_per_s=max((sum(one.rates) for one in fine), default=0.0) * 1e-9,
        profile_s=timeline.edge_s(timeline.bins),
        unknown_s=max(0.0, timeline.edge_s(timeline.bins) - lasted_s),
        replay_s=min(lasted_s, wanted.longest_s),
        steps=[
            ReplayStep(
                begin_s=one.begin_s,
                end_s=one.end_s,
                known_s=min(one.known_s, one.end_s - one.begin_s),
                read_bytes=one.amounts[0],
                write_bytes=one.amounts[1],
            )
            for one in steps
        ],
    )


def _pieces(timeline: Timeline, counted: _Counted, edges: Sequence[int]) -> list[Piece]:
    """Stretches between edges of the grid in which all tracks are known."""
    found = []
    for begin, end in pairwise(edges):
        known_s = min(t.covered_s[end] - t.covered_s[begin] for t in counted.tracks)
        if known_s < SHORTEST_S:
            continue
        read = math.fsum(_total(traced, begin, end, known_s) for traced in counted.reads)
        written = math.fsum(_total(traced, begin, end, known_s) for traced in counted.writes)
        if counted.read_share is not None:
            read, written = read * counted.read_share, read * (1 - counted.read_share)
        found.append(
            Piece(
                begin_s=timeline.edge_s(begin),
                end_s=timeline.edge_s(end),
                known_s=known_s,
                amounts=(read, written),
            )
        )
    return found


def _total(traced: Traced, begin: int, end: int, known_s: float) -> float:
    """Counted by a track in the time that all tracks have: its mean where it has more."""
    return max(0.0, (traced.mean(begin, end) or 0.0) * known_s)
