"""Variants by settings of the whole machine, which are changed for the time of their runs alone.

Hardware prefetch off shows what a program gains from prefetchers, or loses by them; huge pages for
all memory what they change of a program that the other variants of pages do not reach. Both change
the machine for other programs too, so they are tried only on request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial

from msgspec.structs import replace

from memgauge.experiments.diagnose.parameters import PREFETCH, THP_ALWAYS
from memgauge.experiments.diagnose.treatments import NotTried, Treatment, variant
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.errors import SystemFailure
from memgauge.model.system import System
from memgauge.system.memory.pages import THP_FILE, thp_mode
from memgauge.system.settings import huge_pages, registers
from memgauge.system.settings.huge_pages import ALWAYS, HugePagesForAll
from memgauge.system.settings.prefetch import PrefetchersOff
from memgauge.system.settings.setting import Setting
from memgauge.system.settings.switch import Switch
from memgauge.system.tree import Tree

PREFETCH_OFF = "hardware prefetch off"
HUGE_FOR_ALL = "huge pages for all memory"


def setting_variants(
    only: Sequence[str], program: Sequence[int], system: System, tree: Tree | None = None
) -> tuple[list[Treatment], list[NotTried]]:
    """The program under other settings of the machine, and why some are not tried.

    Args:
        only: The kinds of evidence that were asked for.
        program: CPUs that the program has.
        system: The machine.
        tree: Root of sysfs and of the device nodes; None: this machine's.
    """
    tree = tree or Tree()
    asked = [
        *([_without_prefetch(program, system, tree)] if PREFETCH in only else []),
        *([_huge_for_all(tree)] if THP_ALWAYS in only else []),
    ]
    return (
        [one for one in asked if isinstance(one, Treatment)],
        [one for one in asked if isinstance(one, NotTried)],
    )


def settings_not_asked_for(only: Sequence[str], thp: str | None) -> list[NotTried]:
    """Settings that could be changed and were not asked for.

    Args:
        only: The kinds of evidence that were asked for.
        thp: The machine's mode of transparent huge pages; None: it has none.
    """
    names = {PREFETCH: PREFETCH_OFF}
    if thp not in {None, ALWAYS}:
        names[THP_ALWAYS] = HUGE_FOR_ALL
    return [
        NotTried(name, f"only tried where --only names {kind}")
        for kind, name in names.items()
        if kind not in only
    ]


def _without_prefetch(program: Sequence[int], system: System, tree: Tree) -> Treatment | NotTried:
    prefetchers = registers.documented(system)
    reason = registers.why_not(program, system, tree)
    if reason is not None or prefetchers is None:
        return NotTried(PREFETCH_OFF, reason or "")
    change = (
        f"prefetchers off on CPUs {format_cpu_list(sorted(program))} ({prefetchers.names}), bits "
        f"{prefetchers.bits:#x} of register {prefetchers.register:#x}"
    )
    return replace(variant(PREFETCH_OFF, change), prefetch_off=prefetchers)


def _huge_for_all(tree: Tree) -> Treatment | NotTried:
    reason = huge_pages.why_not(tree)
    if reason is not None:
        return NotTried(HUGE_FOR_ALL, reason)
    change = f"{THP_FILE} set to {ALWAYS} (from {thp_mode(tree)})"
    return replace(variant(HUGE_FOR_ALL, change), huge_pages_for_all=True, pages_wanted="huge")


class MachineSettings:
    """Changes settings of the machine for those runs whose treatment wants it."""

    def __init__(
        self,
        switches: Mapping[str, Switch],
        treatments: list[Treatment],
        not_tried: Sequence[NotTried] = (),
    ) -> None:
        """Take switches that were tried; see `opened`."""
        self._switches = switches
        """By name of the treatment."""
        self.treatments = treatments
        """All that can be applied."""
        self.not_tried = not_tried

    @classmethod
    def opened(
        cls, treatments: Sequence[Treatment], cpus: Sequence[int], stack: ExitStack
    ) -> MachineSettings:
        """Try to change the settings that treatments want.

        Args:
            treatments: Of all kinds; those whose setting cannot be changed are left out.
            cpus: Of the program.
            stack: Puts the settings back when it is closed.
        """
        switches: dict[str, Switch] = {}
        not_tried = []
        for one in treatments:
            wanted = _wanted(one, cpus)
            if wanted is None:
                continue
            try:
                switches[one.name] = Switch.opened(*wanted, stack)
            except SystemFailure as error:
                not_tried.append(NotTried(one.name, str(error)))
        refused = {one.name for one in not_tried}
        return cls(switches, [one for one in treatments if one.name not in refused], not_tried)

    def of(self, treatment: Treatment) -> AbstractContextManager[None]:
        """A context in which the settings are as the treatment wants them.

        Args:
            treatment: Any of `treatments`.
        """
        switch = self._switches.get(treatment.name)
        return nullcontext() if switch is None else switch.changed()


def _wanted(
    treatment: Treatment, cpus: Sequence[int]
) -> tuple[type[Setting], Callable[[Tree], Setting]] | None:
    """The setting that a treatment changes, and what reads how it is; None: it changes none."""
    if treatment.prefetch_off is not None:
        return PrefetchersOff, partial(PrefetchersOff.recorded, treatment.prefetch_off, cpus)
    return (HugePagesForAll, HugePagesForAll.recorded) if treatment.huge_pages_for_all else None
