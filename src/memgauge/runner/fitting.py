"""Determines which parts of a request this machine and its memory allow.

A survey omits the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from memgauge.experiments.registry import for_memory
from memgauge.experiments.shared.base import Experiment, Group
from memgauge.model.errors import DoesNotFit, NotPossibleHere, OutOfTime, RequestError
from memgauge.model.parameters import CommonParameters
from memgauge.model.records import Warning
from memgauge.model.system import System
from memgauge.model.units import format_count
from memgauge.runner.batches import Planned, require_room
from memgauge.runner.requirements import require_placement
from memgauge.system.limits.memory import tightest_limit
from memgauge.system.limits.room import room
from memgauge.system.topology.placement import within

Requested = tuple[Experiment, CommonParameters]
LEFT_OUT = "left-out"
"""Code of warnings about omitted experiments and groups."""

Write = Callable[[Sequence[Warning]], None]


class LeftOut:
    """Experiments and groups of points that a run omits, and why.

    A run of a single experiment is refused instead, as long as it has measured nothing.
    """

    def __init__(self, requested: Sequence[Requested], noticed: Sequence[Warning] = ()) -> None:
        self._is_survey = len(requested) > 1
        self._found = list(noticed)
        self._write: Write | None = None
        self._avoidable: Warning | None = None
        """What another request, more memory or more time could avoid: the last that time ran out
        for, for which memory was there, else the first."""

    @property
    def found(self) -> list[Warning]:
        """What was omitted so far."""
        return [one for one in self._found if one.code == LEFT_OUT]

    def recorded_by(self, write: Write) -> None:
        """Record what was omitted so far, and from now on every further omission."""
        self._write = write
        write(self._found)

    def add(self, experiment: str, error: RequestError) -> None:
        """Continue without this part.

        Raises:
            RequestError: `error` itself, if nothing else was requested and nothing was measured.
        """
        if not self._is_survey and self._write is None:
            raise error
        warning = Warning(code=LEFT_OUT, message=str(error), experiment=experiment)
        self._found.append(warning)
        is_first = self._avoidable is None and not isinstance(error, NotPossibleHere)
        if is_first or isinstance(error, OutOfTime):
            self._avoidable = warning
        if self._write is not None:
            self._write(self._found[-1:])

    def nothing_left(self) -> RequestError:
        """Why there is nothing to measure: one reason, and how many more experiments fail.

        What the machine lacks for good is the reason only where there is no other.
        """
        reasons = self.found
        first = self._avoidable.message if self._avoidable else "no experiment was requested"
        if self._avoidable is None and reasons:
            first = reasons[0].message
        others = len({one.experiment for one in reasons}) - 1
        also = f" (and {format_count(others, 'more experiment')} cannot be measured either)"
        return DoesNotFit(f"nothing can be measured here: {first}{also * (others > 0)}")


def planned_groups(
    experiment: Experiment, parameters: CommonParameters, system: System
) -> Sequence[Group]:
    """The points of one experiment; nothing is opened.

    Args:
        experiment: The experiment, in the form that `for_memory` chooses for the requested memory.
        parameters: What was requested of it.
        system: The whole machine; the plan uses only the requested NUMA nodes of it.

    Raises:
        RequestError: the machine cannot run the experiment as requested.
    """
    require_placement(parameters, system)
    return experiment.plan(parameters, within(system, parameters.nodes))


def fitting(requested: Sequence[Requested], system: System, left_out: LeftOut) -> list[Planned]:
    """The groups of points that can be measured, each for itself.

    Args:
        requested: Experiments with their parameters, in the order in which they were requested.
        system: The machine, as detected.
        left_out: Collects each experiment or group that cannot be measured, with the reason.

    Raises:
        RequestError: no requested experiment can be measured, or a request is inconsistent.
    """
    found: list[Planned] = []
    for candidate, parameters in requested:
        try:
            experiment = for_memory(candidate, parameters)
            groups = planned_groups(experiment, parameters, system)
        except (NotPossibleHere, DoesNotFit) as error:
            left_out.add(candidate.name, error)
        else:
            planned = [(experiment, parameters, group) for group in groups]
            found += [one for one in planned if _has_room(one, system, left_out)]
    if not found:
        raise left_out.nothing_left()
    return found


@contextmanager
def memory_needed(what: str) -> Iterator[None]:
    """Turn out-of-memory errors in this context into one that names the operation and the limit.

    Raises:
        DoesNotFit: the kernel, the core or Python had no memory left.
    """
    try:
        yield
    except DoesNotFit as error:
        raise DoesNotFit(f"{what}: {error}") from error
    except MemoryError as error:
        limit = tightest_limit()
        where = "" if limit is None else f" ({limit.origin})"
        raise DoesNotFit(
            f"{what}: memory ran out{where}; free memory or raise the limit"
        ) from error


def _has_room(planned: Planned, system: System, left_out: LeftOut) -> bool:
    try:
        require_room(planned, partial(room, system))
    except DoesNotFit as error:
        left_out.add(planned[0].name, error)
        return False
    return True
