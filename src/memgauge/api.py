"""The Python API behind `import memgauge`: run experiments, load runs, look at what they say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memgauge.model.errors import ValidationFailed
from memgauge.model.parameters import CommonParameters, RunOptions, build, fields_of
from memgauge.model.records import Validation, Warning
from memgauge.model.runfile import Run, default_directory, read_run

if TYPE_CHECKING:
    from memgauge.analysis.section import Report
    from memgauge.experiments.base import Experiment
    from memgauge.model.system import System
    from memgauge.runner.run import Progress


class Result:
    """A run and what it says. Rendering needs neither the native core nor the machine."""

    def __init__(self, run: Run, directory: Path) -> None:
        self.run = run
        self.directory = directory

    @property
    def failed_validations(self) -> list[Validation]:
        """Checks of arrays that did not hold what they must: possible memory corruption."""
        return [v for v in self.run.validations if not all(check.passed for check in v.checks)]

    @cached_property
    def report(self) -> Report:
        """The run, analysed: sections with verdicts, tables and charts."""
        from memgauge.analysis.report import analyse_run

        return analyse_run(self.run)

    def text(self, width: int = 80) -> str:
        """The summary for a terminal, without colour."""
        from memgauge.reports.terminal import render

        return render(self.report, width=width, color=False)

    def html(self) -> str:
        """One self-contained HTML page."""
        from memgauge.reports.html import render

        return render(self.report)

    def stream_form(self) -> str:
        """The bandwidth figures in STREAM's own table form, labelled as its run rules ask."""
        from memgauge.analysis.stream_form import stream_form

        return stream_form(self.run)

    def document(self) -> dict[str, Any]:
        """The figures as plain data: what `--json` prints."""
        import msgspec

        from memgauge.analysis.document import json_document

        made: dict[str, Any] = msgspec.to_builtins(json_document(self.run))
        return made

    def save(self) -> None:
        """Write `summary.txt` and `report.html` beside the records."""
        from memgauge.reports.files import write_text

        write_text(self.directory / "summary.txt", self.text())
        write_text(self.directory / "report.html", self.html())


def load(path: str | Path) -> Result:
    """A run from its directory.

    Raises:
        RunFileError: it is no run, or of a newer version.
    """
    found = Path(path)
    return Result(read_run(found), found if found.is_dir() else found.parent)


def system() -> System:
    """What was found about this machine."""
    from memgauge.system.detect import detect

    return detect()


def measure(  # noqa: PLR0913 - all but two by name
    chosen: Sequence[tuple[Experiment, CommonParameters]],
    options: RunOptions,
    *,
    name: str,
    resume: Path | None = None,
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_warning: Callable[[Warning], None] = lambda _: None,
) -> Result:
    """Run experiments and write the report; what the command line and the functions below share.

    Raises:
        RequestError: the machine cannot do what was asked.
        KeyboardInterrupt: interrupted; what was measured is in the run directory.
    """
    from memgauge.runner.huge_pages import prepared
    from memgauge.runner.run import Request, execute

    with prepared(chosen) as noticed:
        for warning in noticed:
            on_warning(warning)
        request = Request(
            experiments=[(one, asked.for_budget(options.budget_s)) for one, asked in chosen],
            budget_s=options.budget_s,
            precision=options.precision,
            directory=resume or Path(options.output or default_directory(name)),
            system=system(),
            resume=resume is not None,
            warnings=noticed,
        )
        return Result(execute(request, on_progress), request.directory)


def survey(**options: Any) -> Result:
    """Every experiment inside one budget. Options are those of `memgauge survey`."""
    from memgauge.experiments.registry import EXPERIMENTS

    return _run(list(EXPERIMENTS), "survey", options)


def stream(**options: Any) -> Result:
    """Bandwidth of STREAM's kernels. Options are those of `memgauge stream`."""
    return _run(["stream"], "stream", options)


def latency(**options: Any) -> Result:
    """Idle latency of each level. Options are those of `memgauge latency`."""
    return _run(["latency"], "latency", options)


def workingset(**options: Any) -> Result:
    """Latency and read bandwidth over footprints. Options are those of `memgauge workingset`."""
    return _run(["workingset"], "workingset", options)


def _run(names: Sequence[str], name: str, options: dict[str, Any]) -> Result:
    from memgauge.experiments.registry import load as load_experiment

    of_run = {field.keyword for field in fields_of(RunOptions)} | {"budget_s"}
    run_options = build(RunOptions, **{k: v for k, v in options.items() if k in of_run})
    asked = {k: v for k, v in options.items() if k not in of_run}
    chosen = []
    for experiment in map(load_experiment, names):
        mine = asked if len(names) == 1 else _taken(experiment.parameters, asked)
        chosen.append((experiment, build(experiment.parameters, **mine)))
    result = measure(chosen, run_options, name=name)
    result.save()
    if result.failed_validations:
        raise ValidationFailed(
            f"{result.directory}: the arrays do not hold what the kernels must have left; this may "
            f"be memory corruption: test the memory before you trust this machine"
        )
    return result


def _taken(struct: type[CommonParameters], asked: dict[str, Any]) -> dict[str, Any]:
    """Of a survey's options, those this experiment takes; team sizes only where it has teams."""
    return {k: v for k, v in asked.items() if k != "threads" or struct.takes_threads}
