"""Other ways to start a program, and what is not tried of them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from memgauge.experiments.diagnose.cpu_placements import THREAD_VARIABLES, cpu_placements
from memgauge.experiments.diagnose.memory_placements import memory_placements
from memgauge.experiments.diagnose.parameters import EVIDENCE, DiagnoseParameters
from memgauge.experiments.diagnose.places import Places
from memgauge.experiments.diagnose.threads import PLACE, takes_threads, with_threads
from memgauge.experiments.diagnose.treatments import NotTried, Treatment, variant
from memgauge.model.points.diagnose import AS_IT_IS, AS_IT_IS_AGAIN
from memgauge.model.system import System
from memgauge.system.memory.policy import refusal

NEVER = (
    NotTried(
        "huge pages for all memory",
        "the setting in /sys/kernel/mm/transparent_hugepage is of the whole machine",
    ),
    NotTried(
        "hardware prefetch off", "memgauge does not write the processor's model-specific registers"
    ),
)


def variants(
    parameters: DiagnoseParameters, places: Places, system: System
) -> tuple[list[Treatment], list[NotTried]]:
    """Other ways to start the program, the baseline and its repetition first; and why not more.

    Args:
        parameters: `only` and `variants` are used.
        places: The program's CPUs.
        system: The machine.
    """
    made: list[Treatment] = []
    not_tried: list[NotTried] = []
    if "pages" in parameters.only:
        made += _page_variants(os.environ)
    if "threads" in parameters.only:
        made += _thread_variants(len(places.program), parameters.words)
        if len(places.program) == 1:
            not_tried.append(NotTried("fewer threads", "the program has one CPU"))
    if "placement" in parameters.only:
        for found, left_out in (
            cpu_placements(places.program, system, os.environ),
            memory_placements(places.program, system, refusal()),
        ):
            made += [_on_its_cpus(one, parameters.words) for one in found]
            not_tried += left_out
    made += _own_variants(parameters, len(places.program))
    if made:
        made[:0] = [
            Treatment(name=AS_IT_IS, kind="variant"),
            Treatment(name=AS_IT_IS_AGAIN, kind="variant", baseline=AS_IT_IS),
        ]
    return made, not_tried


def never_tried(only: Sequence[str]) -> list[NotTried]:
    """What is tried on no machine, and what was not asked for.

    Args:
        only: The kinds of evidence that were asked for.
    """
    left_out = [NotTried(name, "left out by --only") for name in EVIDENCE if name not in only]
    return [*NEVER, *left_out]


def _on_its_cpus(one: Treatment, words: Sequence[str]) -> Treatment:
    """With as many threads in the command as the treatment has CPUs."""
    if not one.cpus or not takes_threads(words):
        return one
    return replace(one, words=with_threads(words, len(one.cpus)))


def _own_variants(parameters: DiagnoseParameters, cpus: int) -> list[Treatment]:
    made = []
    for own in parameters.variants or ():
        variable = own.variable
        made.append(
            replace(
                variant(own.name, own.what),
                environment={} if variable is None else dict([variable]),
                words=with_threads(shlex.split(own.what), cpus) if variable is None else None,
            )
        )
    return made


def _page_variants(environment: Mapping[str, str]) -> list[Treatment]:
    """Huge pages of the allocator of the C library on, and huge pages of the process off."""
    tunables = environment.get("GLIBC_TUNABLES")
    asked = ":".join(filter(None, (tunables, "glibc.malloc.hugetlb=1")))
    return [
        replace(
            variant("malloc on huge pages", f"GLIBC_TUNABLES={asked}"),
            environment={"GLIBC_TUNABLES": asked},
            pages_wanted="huge",
        ),
        replace(
            variant("no huge pages", "transparent huge pages switched off for the process"),
            transparent_huge_pages=False,
            pages_wanted="base",
        ),
    ]


def _thread_variants(cpus: int, words: Sequence[str]) -> list[Treatment]:
    """Half of the CPUs, and one: in the command where it has a place, else in the environment."""
    is_argument = takes_threads(words)
    return [
        replace(
            variant(
                f"{count} threads" if count > 1 else "1 thread",
                f"{PLACE} = {count}" if is_argument else f"OMP_NUM_THREADS and its kind = {count}",
            ),
            environment={} if is_argument else dict.fromkeys(THREAD_VARIABLES, str(count)),
            words=with_threads(words, count) if is_argument else None,
        )
        for count in _counts(cpus)
    ]


def _counts(cpus: int) -> Sequence[int]:
    return sorted({count for count in (cpus // 2, 1) if 0 < count < cpus}, reverse=True)
