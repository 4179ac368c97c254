"""Completing a run: its file says what is measured, and the user what may be touched for that.

A run may come from elsewhere. What its file asks for that reaches beyond this machine's ordinary
memory (a file to create, a device or a pool to write to, pages to reserve) is done only if the
command line asks for it again.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from memgauge.commands.shared.measure import measure
from memgauge.experiments.registry import load
from memgauge.experiments.shared.base import Experiment
from memgauge.model.errors import RequestError
from memgauge.model.memory import MemoryPlacement, parse_placement
from memgauge.model.parameters import CommonParameters, RunOptions, build
from memgauge.model.storage.run_file import read_run
from memgauge.model.text import plain, quoted

_RESERVED = "reserve_bytes"


class Confirmed:
    """What the command line allows the run to use.

    Args:
        memory: placements, in text form.
        overwrite: whether devices that hold data may be written to.

    Raises:
        RequestError: a text is no placement.
    """

    def __init__(self, memory: Iterable[str], *, overwrite: bool) -> None:
        self._placements = {parse_placement(text, "--memory") for text in memory}
        self._overwrite = overwrite

    def check(self, directory: Path, chosen: Iterable[tuple[Experiment, CommonParameters]]) -> None:
        """Refuse what the run asks for and the command line does not.

        Raises:
            RequestError: it names what to add, or what the run does not use.
        """
        requested = [parameters for _, parameters in chosen]
        used = {memory for one in requested for memory in one.memories} - {MemoryPlacement()}
        where = plain(str(directory))
        if missing := used - self._placements:
            raise RequestError(
                f"{where}: was measured in {_listed(missing)}; if you trust the file and mean that "
                f"memory on this machine, add {_options(missing)}"
            )
        if extra := self._placements - used - {MemoryPlacement()}:
            raise RequestError(
                f"--memory: {where} was not measured in {_listed(extra)}; leave it out, or start a "
                "new run"
            )
        if any(one.overwrite for one in requested) and not self._overwrite:
            raise RequestError(
                f"{where}: was allowed to overwrite a device that holds data; if that is still "
                "meant, add --overwrite"
            )
        if any(getattr(one, _RESERVED, None) is not None for one in requested):
            raise RequestError(
                f"{where}: had huge pages reserved by --reserve-huge-pages, which a resumed run "
                "does not do; start a new run"
            )


def resume(
    directory: Path,
    options: RunOptions,
    given: dict[str, Any],
    confirmed: Confirmed,
    *,
    full: bool = False,
) -> int:
    """Complete a run with the parameters it was started with; returns the exit code.

    Args:
        directory: of the run.
        options: how to go on.
        given: those of the options that were on the command line.
        confirmed: what the run may use beside ordinary memory.
        full: whether to print every section.
    """
    start = read_run(directory).start
    chosen = []
    for name, texts in start.parameters.items():
        experiment = load(name)
        requested = {key: value for key, value in texts.items() if value is not None}
        chosen.append((experiment, build(experiment.parameters, **requested)))
    confirmed.check(directory, chosen)
    if "precision" not in given:
        options = options.replace(precision=start.precision)
    return measure(chosen, options, resume_run=directory, full=full)


def _listed(placements: Iterable[MemoryPlacement]) -> str:
    return " and ".join(sorted(quoted(str(one)) for one in placements))


def _options(placements: Iterable[MemoryPlacement]) -> str:
    from shlex import quote

    return " ".join(sorted(f"--memory {quote(plain(str(one)))}" for one in placements))
