"""Hardware prefetch off as a variant: what a program gains from prefetchers, or loses by them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext

from msgspec.structs import replace

from memgauge.experiments.diagnose.treatments import NotTried, Treatment, variant
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.errors import SystemFailure
from memgauge.model.system import System
from memgauge.system.prefetch.registers import documented, why_not
from memgauge.system.prefetch.switch import PrefetchSwitch
from memgauge.system.tree import Tree

PREFETCH_OFF = "hardware prefetch off"


def prefetch_variants(
    program: Sequence[int], system: System, tree: Tree | None = None
) -> tuple[list[Treatment], list[NotTried]]:
    """The program without hardware prefetch on its CPUs, or why that is not tried.

    Args:
        program: CPUs that the program has.
        system: The machine.
        tree: Root of the device nodes.
    """
    prefetchers = documented(system)
    reason = why_not(program, system, tree or Tree())
    if reason is not None or prefetchers is None:
        return [], [NotTried(PREFETCH_OFF, reason or "")]
    change = (
        f"prefetchers off on CPUs {format_cpu_list(sorted(program))} ({prefetchers.names}), bits "
        f"{prefetchers.bits:#x} of register {prefetchers.register:#x}"
    )
    return [replace(variant(PREFETCH_OFF, change), prefetch_off=prefetchers)], []


class Prefetch:
    """Switches prefetchers off for those runs whose treatment wants it."""

    def __init__(
        self,
        switch: PrefetchSwitch | None,
        treatments: list[Treatment],
        not_tried: Sequence[NotTried] = (),
    ) -> None:
        """Take a switch that was tried; see `opened`."""
        self._switch = switch
        self.treatments = treatments
        """All that can be applied."""
        self.not_tried = not_tried

    @classmethod
    def opened(cls, treatments: list[Treatment], cpus: Sequence[int], stack: ExitStack) -> Prefetch:
        """Try to switch the prefetchers off, if a treatment wants it.

        Args:
            treatments: Of all kinds; those that need it are left out if it is refused.
            cpus: Of the program.
            stack: Switches the prefetchers on when it is closed.
        """
        wanted = [one.prefetch_off for one in treatments if one.prefetch_off is not None]
        if not wanted:
            return cls(None, treatments)
        try:
            return cls(PrefetchSwitch.opened(wanted[0], cpus, stack), treatments)
        except SystemFailure as error:
            others = [one for one in treatments if one.prefetch_off is None]
            return cls(None, others, [NotTried(PREFETCH_OFF, str(error))])

    def of(self, treatment: Treatment) -> AbstractContextManager[None]:
        """A context in which the prefetchers are as the treatment wants them.

        Args:
            treatment: Any of `treatments`.
        """
        if treatment.prefetch_off is None or self._switch is None:
            return nullcontext()
        return self._switch.off()
