"""A program that chooses its CPUs itself, as the ranks of a launcher (mpirun) do.

memgauge confines what it starts to the program's CPUs. Launchers bind their ranks nevertheless, to
any CPU of the machine. Where the first run shows CPUs outside of the program's, generators leave
them, and CPU placements are not tried, which would not reach the ranks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from memgauge.experiments.diagnose.places import Places
from memgauge.experiments.diagnose.pressure.steps import steps
from memgauge.experiments.diagnose.treatments import NotTried, Treatment, pressures
from memgauge.model.cpulist import format_cpu_list


def places_left(places: Places, seen: Sequence[int], core_of: Mapping[int, int]) -> Places:
    """Places where no generator shares a core with a CPU on which the program was seen.

    Args:
        places: As they were planned.
        seen: CPUs that its processes could use while it ran; none: it was not seen.
        core_of: Core of each CPU of the machine.
    """
    own = chosen(places, seen)
    if not own:
        return places
    used = {core_of.get(cpu, -cpu) for cpu in seen}
    return replace(
        places,
        program=sorted(seen),
        pressure=[cpu for cpu in places.pressure if core_of.get(cpu, -cpu) not in used],
        reference=own[0],
        same_cache=None,
    )


def chosen(places: Places, seen: Iterable[int]) -> list[int]:
    """CPUs outside of the program's on which it was seen; none: it stayed where it was put."""
    return sorted(set(seen) - set(places.program))


def on_left(
    treatments: Sequence[Treatment], planned: Places, left: Places, part_doses: int
) -> tuple[list[Treatment], list[NotTried]]:
    """The treatments that can be applied where they are left, and why not the others.

    Args:
        treatments: All that were planned.
        planned: The places that they were planned for.
        left: Those that are left.
        part_doses: How many were asked for.
    """
    own = chosen(planned, left.program)
    if not own:
        return list(treatments), []
    where = f"the program runs on CPUs {format_cpu_list(left.program)} of its own choice"
    not_tried = []
    kept = [one for one in treatments if one.cpus is None]
    if len(kept) < len(treatments):
        not_tried.append(NotTried("other CPUs", f"{where}, as ranks of a launcher do"))
    if any(one.pressure for one in kept) and not left.pressure:
        kept = [one for one in kept if one.pressure is None]
        reason = f"{where}, which leaves none for pressure; bind it to fewer, or name others"
        not_tried.append(NotTried("interference", f"{reason} with --pressure-cpus"))
    if not left.pressure:
        return kept, not_tried
    full = pressures(left)
    made = {one.name: one.pressure for one in (*full, *steps(part_doses, full, left))}
    return [
        replace(one, pressure=made.get(one.name, one.pressure)) if one.pressure else one
        for one in kept
    ], not_tried
