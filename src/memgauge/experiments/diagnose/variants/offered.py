"""Other ways to start a program, and what is not tried of them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from memgauge.experiments.diagnose.parameters import (
    DEFAULT_EVIDENCE,
    DiagnoseParameters,
    Variant,
)
from memgauge.experiments.diagnose.places import Places
from memgauge.experiments.diagnose.treatments import NotTried, Treatment, variant
from memgauge.experiments.diagnose.variants.cpu_placements import (
    THREAD_VARIABLES,
    cpu_placements,
    on_all_cpus,
)
from memgauge.experiments.diagnose.variants.machine_settings import (
    setting_variants,
    settings_not_asked_for,
)
from memgauge.experiments.diagnose.variants.memory_placements import memory_placements
from memgauge.experiments.diagnose.variants.preloaded import (
    heap_on_huge_pages,
    huge,
    why_not_preloaded,
)
from memgauge.experiments.diagnose.variants.threads import PLACE, takes_threads, with_threads
from memgauge.model.errors import RequestError
from memgauge.model.points.diagnose import AS_IT_IS, AS_IT_IS_AGAIN
from memgauge.model.records import MeasuredWeights
from memgauge.model.system import System
from memgauge.model.text import quoted
from memgauge.system.memory.policy import refusal
from memgauge.system.programs.program import candidates, check_startable

ADVISED = "huge pages advised"


def variants(
    parameters: DiagnoseParameters,
    places: Places,
    system: System,
    measured: Sequence[MeasuredWeights] = (),
) -> tuple[list[Treatment], list[NotTried]]:
    """Other ways to start the program, the baseline and its repetition first; and why not more.

    Args:
        parameters: `only` and `variants` are used.
        places: The program's CPUs.
        system: The machine.
        measured: Weights of nodes by an earlier run of this machine.
    """
    made: list[Treatment] = []
    not_tried: list[NotTried] = []
    if "pages" in parameters.only:
        found, left_out = page_variants(system.thp, os.environ)
        made += found
        not_tried += left_out
    if "threads" in parameters.only:
        made += _thread_variants(len(places.program), parameters.words)
        if len(places.program) == 1:
            not_tried.append(NotTried("fewer threads", "the program has one CPU"))
    if "placement" in parameters.only:
        if parameters.program_cpus is None:
            everywhere = on_all_cpus(places.program, system.allowed_cpus)
            made += [_on_its_cpus(one, parameters.words) for one in everywhere]
        for found, left_out in (
            cpu_placements(places.program, system, os.environ),
            memory_placements(places.program, system, refusal(), measured),
        ):
            made += [_on_its_cpus(one, parameters.words) for one in found]
            not_tried += left_out
    found, left_out = setting_variants(parameters.only, places.program, system)
    made += found
    not_tried += left_out
    made += _own_variants(parameters, len(places.program))
    if made:
        made[:0] = [
            Treatment(name=AS_IT_IS, kind="variant"),
            Treatment(name=AS_IT_IS_AGAIN, kind="variant", baseline=AS_IT_IS),
        ]
    return made, not_tried


def not_asked_for(only: Sequence[str], thp: str | None) -> list[NotTried]:
    """What was not asked for.

    Args:
        only: The kinds of evidence that were asked for.
        thp: The machine's mode of transparent huge pages; None: it has none.
    """
    found = [NotTried(name, "left out by --only") for name in DEFAULT_EVIDENCE if name not in only]
    return [*found, *settings_not_asked_for(only, thp)]


def _on_its_cpus(one: Treatment, words: Sequence[str]) -> Treatment:
    """With as many threads in the command as the treatment has CPUs."""
    if not one.cpus or not takes_threads(words):
        return one
    return replace(one, words=with_threads(words, len(one.cpus)))


def _own_variants(parameters: DiagnoseParameters, cpus: int) -> list[Treatment]:
    """Those of the user.

    Raises:
        RequestError: a variable's value looks like a command.
    """
    made = []
    for own in parameters.variants or ():
        one = variant(own.name, own.what)
        if own.variable is not None:
            _refuse_command(own, parameters.words)
            made.append(replace(one, environment=dict([own.variable])))
            continue
        made.append(replace(one, words=with_threads(shlex.split(own.what), cpus)))
    return made


def require_commands(treatments: Iterable[Treatment]) -> None:
    """Refuse commands that cannot be started before anything is run.

    Args:
        treatments: Those with a command of their own are looked at.

    Raises:
        CommandNotFound, CommandNotExecutable: there is no such command.
    """
    for name in {one.words[0]: None for one in treatments if one.words}:
        check_startable(name, candidates(name, os.environ.get("PATH", os.defpath)))


def _refuse_command(own: Variant, usual: Sequence[str]) -> None:
    """A shell would take `FOO=1 ./solver` for a command; here it would be a value with a blank."""
    name, value = own.variable or ("", "")
    later = value.split()[1:]
    if any(word == usual[0] or ("/" in word and _is_program(word)) for word in later):
        raise RequestError(
            f"--try {quoted(str(own))}: sets {name} to {quoted(value)} and starts no other "
            f"command; to start one with a variable, write {quoted(f'{own.name}=env {own.what}')}"
        )


def _is_program(path: str) -> bool:
    return Path(path).is_file() and os.access(path, os.X_OK)


def page_variants(
    thp: str | None, environment: Mapping[str, str]
) -> tuple[list[Treatment], list[NotTried]]:
    """Huge pages for the allocator, for all large blocks, and for nothing; and why some are not.

    Args:
        thp: The machine's mode of transparent huge pages; None: it has none.
        environment: That the program has otherwise.
    """
    if thp in {None, "never"}:
        reason = "the kernel has no transparent huge pages"
        if thp is not None:
            reason = "transparent huge pages are switched off on this machine (never)"
        return [], [NotTried("huge pages", reason)]
    asked = heap_on_huge_pages(environment)
    made = [
        replace(
            variant("malloc on huge pages", f"GLIBC_TUNABLES={asked['GLIBC_TUNABLES']}"),
            environment=asked,
            pages_wanted="huge",
        ),
        replace(
            variant("no huge pages", "transparent huge pages switched off for the process"),
            transparent_huge_pages=False,
            pages_wanted="base",
        ),
    ]
    why_not = why_not_preloaded()
    if why_not is not None:
        return made, [NotTried(ADVISED, why_not)]
    change = "large blocks advised by a preloaded library (madvise), and malloc on huge pages"
    advised = replace(variant(ADVISED, change), environment=huge(environment), pages_wanted="huge")
    return [advised, *made], []


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
