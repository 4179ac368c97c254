"""What the API and the commands hand out: runs, jobs, published tables and simulations, analysed.

Rendering needs neither the native core nor the machine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from memgauge.model.arguments import path_of
from memgauge.model.errors import RequestError, RunFileError
from memgauge.model.record_kinds.replayed import Replayed
from memgauge.model.records import MeasuredCurve, MeasuredReach, MeasuredWeights, Validation
from memgauge.model.storage.run_file import Run, read_run
from memgauge.model.text import quoted

if TYPE_CHECKING:
    from memgauge.analysis.figures.run import Figures
    from memgauge.analysis.ranks.report import ProfiledRanks
    from memgauge.analysis.section import Report
    from memgauge.model.simulated_program import SimulatedProgram
    from memgauge.references.library import Reference
    from memgauge.reports.export.figures import FigureTable


CORRUPT = (
    "the arrays do not hold what the kernels must have left; this may be memory corruption: test "
    "the memory before you trust this machine"
)
"""What failed validations mean."""
EMPTY = (
    "the budget ended while arrays were prepared; increase --budget, use fewer --threads or "
    "smaller arrays, or stop other programs"
)
"""Why a run has points and no samples."""


FRAME_PX = 900
"""Height of a page in a notebook."""


class Analysed(ABC):
    """Something with a report."""

    @property
    @abstractmethod
    def report(self) -> Report:
        """Sections with verdicts, tables and charts."""

    @abstractmethod
    def _figures(self) -> msgspec.Struct:
        """The document that `document` gives as plain data."""

    def __repr__(self) -> str:
        """What it is of and how it went, in a line."""
        report = self.report
        return f"<{type(self).__name__}: {report.title}; {report.status}>"

    def _repr_html_(self) -> str:
        """The page in a frame, as notebooks show it: its styles and scripts stay inside."""
        page = escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:{FRAME_PX}px;border:0"></iframe>'

    def document(self) -> dict[str, Any]:
        """The figures as plain data: what `--json` prints."""
        made: dict[str, Any] = msgspec.to_builtins(self._figures())
        return made

    def text(self, width: int = 80, encoding: str = "utf-8") -> str:
        """The report for a terminal, without colour; in ASCII for an encoding without Unicode."""
        from memgauge.reports.terminal.report import render

        return render(self.report, width=width, color=False, encoding=encoding)

    def html(self) -> str:
        """One self-contained HTML page."""
        from memgauge.reports.html.page import render

        return render(self.report)


class Result(Analysed):
    """A run and what it says. Rendering needs neither the native core nor the machine."""

    def __init__(self, run: Run, directory: Path) -> None:
        self.run = run
        self.directory = directory

    @property
    def failed_validations(self) -> list[Validation]:
        """Checks of arrays that did not hold what they must: possible memory corruption."""
        return [v for v in self.run.validations if not all(check.passed for check in v.checks)]

    @property
    def is_empty(self) -> bool:
        """Whether points were prepared and none was measured or simulated."""
        run = self.run
        return bool(run.points) and not run.simulated and not any(run.samples.values())

    @cached_property
    def headline_figures(self) -> dict[str, float]:
        """What is kept of the run for later ones, by key of the headline."""
        from memgauge.analysis.report.headlines import headline_figures

        return headline_figures(self._known)

    @cached_property
    def _known(self) -> Figures:
        from memgauge.analysis.figures.run import figures_of

        return figures_of(self.run)

    @cached_property
    def report(self) -> Report:
        """The run, analysed: sections with verdicts, tables and charts."""
        from memgauge.analysis.report.run import report_of

        return report_of(self._known)

    def text(self, width: int = 80, encoding: str = "utf-8", *, full: bool = True) -> str:
        """The report for a terminal, without colour; in ASCII for an encoding without Unicode.

        Args:
            width: Most columns of a line.
            encoding: Of the output.
            full: False: of a run of several experiments only the answer.
        """
        from memgauge.reports.terminal.report import render

        return render(self.report, width=width, color=False, encoding=encoding, whole=full)

    def figures(self) -> FigureTable:
        """Every figure with its interval: a row for each point in each regime."""
        from memgauge.reports.export.figures import FigureTable

        return FigureTable(self._known)

    def curves_of(self, machine_id: str) -> list[MeasuredCurve]:
        """Latency beside bandwidth, for a run of the same machine.

        Args:
            machine_id: Of that machine.

        Raises:
            RequestError: this run is of another machine, or has no latency under load.
        """
        curves = self._curves(machine_id)
        if not curves:
            raise RequestError(
                f"--curves {quoted(str(self.directory))}: has no curve of latency under load; name "
                "a run of 'memgauge survey' or 'memgauge loaded'"
            )
        return curves

    def known_of(self, machine_id: str) -> list[MeasuredCurve | MeasuredReach]:
        """Latency beside bandwidth and the reach of the TLB, for a diagnosis of the same machine.

        Args:
            machine_id: Of that machine.

        Raises:
            RequestError: this run is of another machine, or has neither.
        """
        from memgauge.analysis.pages.measured import measured_reach

        curves, reach = self._curves(machine_id), measured_reach(self._known)
        if not curves and reach is None:
            raise RequestError(
                f"--curves {quoted(str(self.directory))}: has neither a curve of latency under "
                "load nor the reach of the TLB; name a run of 'memgauge survey', 'memgauge loaded' "
                "or 'memgauge pages'"
            )
        return [*curves, *([reach] if reach else [])]

    def weights_of(self, machine_id: str) -> list[MeasuredWeights]:
        """The best weights of interleaved nodes, for a diagnosis of the same machine.

        Args:
            machine_id: Of that machine.

        Raises:
            RequestError: this run is of another machine, or does not tell which weights are best.
        """
        from memgauge.analysis.interleave.measured import measured_weights

        self._require_machine(machine_id, "--weights")
        found = measured_weights(self._known)
        if not found:
            raise RequestError(
                f"--weights {quoted(str(self.directory))}: does not tell which weights of nodes "
                "are best; name a run of 'memgauge interleave' or 'memgauge survey' with enough "
                "rounds"
            )
        return found

    def _curves(self, machine_id: str) -> list[MeasuredCurve]:
        from memgauge.analysis.loaded.measured import measured_curves

        self._require_machine(machine_id, "--curves")
        return measured_curves(self._known)

    def _require_machine(self, machine_id: str, flag: str) -> None:
        found = self.run.start.system
        if found.machine_id != machine_id:
            raise RequestError(
                f"{flag} {quoted(str(self.directory))}: was measured on another machine "
                f"({found.cpu_model}); name a run of this one"
            )

    def replayed(
        self, most_steps: int, longest_s: float, read_share: float | None = None
    ) -> Replayed:
        """The traffic of a profile, condensed to steps that `loaded --like` replays.

        Args:
            most_steps: Steps at most.
            longest_s: Seconds that one replay takes at most; a shorter profile keeps its own time.
            read_share: Of a profile that does not distinguish reads from writes.

        Raises:
            RequestError: this is no profile, or it has no counted memory traffic.
        """
        from memgauge.analysis.loaded.replayed import Wanted, replayed_of

        wanted = Wanted(steps=most_steps, longest_s=longest_s, read_share=read_share)
        return replayed_of(self.run, quoted(str(self.directory)), wanted)

    def replayed_before(self) -> Replayed:
        """The steps that this run began to replay, for its resumption.

        Raises:
            RequestError: it holds none.
        """
        if not self.run.replays:
            raise RequestError(
                f"{self.directory}: does not hold the profile that it replayed; start a new run"
            )
        return self.run.replays[0]

    def stream_form(self) -> str:
        """The bandwidth figures in STREAM's own table form, labelled as its run rules ask."""
        from memgauge.analysis.stream.best_of import stream_form

        return stream_form(self.run)

    def _figures(self) -> msgspec.Struct:
        from memgauge.analysis.report.document import document_of

        return document_of(self._known)

    def save(self, *, page: bool = True) -> None:
        """Write `summary.txt` and `report.html` beside the records.

        Args:
            page: False writes no page, and removes one of an earlier state of the run.
        """
        from memgauge.reports.files import write_text

        write_text(self.directory / "summary.txt", self.text(), below=self.directory)
        if page:
            write_text(self.directory / "report.html", self.html(), below=self.directory)
        else:
            (self.directory / "report.html").unlink(missing_ok=True)


class Printed(Analysed):
    """Something that is kept nowhere, unless a page is asked for."""

    def save(self, page: str | Path) -> None:
        """Write the HTML page."""
        from memgauge.reports.files import write_text

        write_text(Path(page), self.html())


class ProfiledJob(Analysed):
    """A job whose ranks are profiled, each with a run of its own in the directory."""

    def __init__(self, directory: Path) -> None:
        from memgauge.model.storage.profile_job import read_job

        self.directory = directory
        self._manifest = read_job(directory)

    @cached_property
    def ranks(self) -> ProfiledRanks:
        """The ranks, analysed."""
        from memgauge.analysis.ranks.report import profiled_ranks

        return profiled_ranks(self.directory, self._manifest)

    @cached_property
    def report(self) -> Report:
        """The ranks over one time: verdicts, tables and charts."""
        from memgauge.analysis.ranks.report import report_of

        return report_of(self.ranks)

    def _figures(self) -> msgspec.Struct:
        from memgauge.analysis.ranks.document import ranks_document

        return ranks_document(self.ranks)

    def save(self) -> None:
        """Write `summary.txt` and `report.html` beside the manifest."""
        from memgauge.reports.files import write_text

        write_text(self.directory / "summary.txt", self.text(), below=self.directory)
        write_text(self.directory / "report.html", self.html(), below=self.directory)


class Published(Analysed):
    """A published table, or what a file of another tool holds.

    Published counts and splits of threads are analysed as those of a run are.
    """

    def __init__(self, source: str | Reference) -> None:
        from memgauge.references.library import load as load_reference

        self.reference = load_reference(source) if isinstance(source, str) else source

    @cached_property
    def report(self) -> Report:
        """What explains them, tables and picture."""
        from memgauge.analysis.comparison.published_tiers import published_tiers_report
        from memgauge.analysis.counters.published import published_report
        from memgauge.analysis.published import table_report

        described = self.reference.description
        if described.competition is not None:
            return published_tiers_report(self.reference)
        if described.counts is not None:
            return published_report(self.reference)
        return table_report(self.reference)

    def _figures(self) -> msgspec.Struct:
        from memgauge.analysis.comparison.published_tiers import published_contest
        from memgauge.analysis.counters.bandwidth import hardware_bandwidth
        from memgauge.analysis.counters.document import hardware_figures
        from memgauge.analysis.counters.published import published_counts
        from memgauge.analysis.published import published_figures
        from memgauge.analysis.tiers.document import contest_figures

        described = self.reference.description
        if described.competition is not None:
            return contest_figures(published_contest(self.reference))
        if described.counts is not None:
            return hardware_figures(hardware_bandwidth(published_counts(self.reference)))
        return published_figures(self.reference)


class Simulation(Printed):
    """What a program did to the simulated caches of a machine; nothing of it is measured."""

    def __init__(self, program: SimulatedProgram) -> None:
        self.program = program

    @cached_property
    def report(self) -> Report:
        """Memory's reads and writes, and the misses of each level."""
        from memgauge.analysis.simulated_program import simulated_report

        return simulated_report(self.program)

    def _figures(self) -> msgspec.Struct:
        from memgauge.analysis.simulated_program import simulation_document

        return simulation_document(self.program)


def load_run(path: str | Path) -> Result:
    """A run from its directory.

    Raises:
        RunFileError: it is no run, or of a newer version.
    """
    found = path_of(path, "load")
    try:
        run = read_run(found)
    except RunFileError:
        from memgauge.references.foreign.files import not_a_run

        if said := not_a_run(found):
            raise RunFileError(said) from None
        raise
    return Result(run, found if found.is_dir() else found.parent)
