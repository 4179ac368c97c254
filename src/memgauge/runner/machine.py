"""The machine as a run needs it: settings put back that an earlier run left, huge pages reserved.

Settings of the machine that a run which was killed left changed would change every figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache

from memgauge.experiments.shared.base import Experiment
from memgauge.model.parameters import CommonParameters
from memgauge.model.records import Warning
from memgauge.model.system import System
from memgauge.system.memory.reservation import PagesWanted, left_behind, reserved
from memgauge.system.settings.left import put_back_left


@contextmanager
def prepared(
    chosen: Sequence[tuple[Experiment, CommonParameters]], system: Callable[[], System]
) -> Iterator[list[Warning]]:
    """Put back what killed runs left changed, and reserve the pages that the experiments need.

    The pages are returned on exit, even after an error. Larger ones come first, while most memory
    is contiguous. Yields notes for readers of the run, such as that a killed run had left pages
    reserved.

    Args:
        chosen: Experiments with their requested parameters.
        system: Detects the machine; called only if something is sized by it.

    Raises:
        RequestError: the pages cannot be reserved.
    """
    noticed = put_back_left()
    with ExitStack() as stack:
        for wanted in _most_of_each(chosen, cache(system)):
            noticed += stack.enter_context(reserved(wanted))
        yield [*noticed, *left_behind()]


def _most_of_each(
    chosen: Sequence[tuple[Experiment, CommonParameters]], system: Callable[[], System]
) -> list[PagesWanted]:
    """For each size of pages the largest wish: experiments are measured with the same pages."""
    wanted: dict[int, PagesWanted] = {}
    for experiment, requested in chosen:
        for one in experiment.reservation(requested, system):
            known = wanted.get(one.page_bytes)
            if known is None or one.bytes > known.bytes:
                wanted[one.page_bytes] = one
    return [wanted[size] for size in sorted(wanted, reverse=True)]
