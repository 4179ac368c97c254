"""Runs, published results and files of other tools side by side: what a comparison consists of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from memgauge.model.arguments import name_of
from memgauge.model.errors import RequestError
from memgauge.model.text import quoted
from memgauge.results import Printed, Result, load_run

if TYPE_CHECKING:
    import msgspec

    from memgauge.analysis.comparison.figures import Source
    from memgauge.analysis.comparison.ratios import Comparison, Row
    from memgauge.analysis.section import Report


class Compared(Printed):
    """Sources side by side, the first being the baseline."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

    @property
    def judged(self) -> list[str]:
        """Speeds with intervals in the baseline and in another source, so that chance is known.

        Amounts, such as bytes moved, are faster or slower than none.
        """
        return [row.name for pair in self.comparison.pairs for row in pair.judged_speeds]

    @property
    def not_judged(self) -> list[str]:
        """The baseline's figures that another source lacks or that have no interval.

        Of sides of several runs also figures that some of the runs lack.
        """
        from memgauge.analysis.comparison.partners import NOT_IN_EVERY_RUN

        names = [
            name
            for pair in self.comparison.pairs
            for name in (
                *(row.name for row in pair.of("not known")),
                *(
                    left.name
                    for left in pair.unpaired
                    if left.source == "baseline" or left.why == NOT_IN_EVERY_RUN
                ),
            )
        ]
        return list(dict.fromkeys(names))

    def gate(self, *, keys_only: bool) -> Callable[[str], bool]:
        """Which figures a gate looks at, by name.

        Args:
            keys_only: Only those that matter most (tuned bandwidth, idle latency, full load), if
                one of them can be judged.
        """
        from memgauge.analysis.comparison.answer import is_key

        if keys_only and any(map(is_key, self.judged)):
            return is_key
        return lambda _: True

    def slower_than(self, share: float) -> list[tuple[str, Row]]:
        """Source and figure wherever the ratio's interval lies wholly beyond `share` slower.

        Of one run a side that is said of these two runs. Of several a side the figure, or the
        common pace of the runs, must also differ by more than what varies between runs.
        """
        return [
            (pair.other.name, row)
            for pair in self.comparison.pairs
            for row in pair.slower_than(share)
        ]

    @cached_property
    def report(self) -> Report:
        """Sections with verdicts, tables and charts."""
        from memgauge.analysis.comparison.report import report_of

        return report_of(self.comparison)

    def _figures(self) -> msgspec.Struct:
        from memgauge.analysis.comparison.document import comparison_document

        return comparison_document(self.comparison)


def runs_of(
    source: str | Path | Result | Sequence[str | Path | Result],
) -> Sequence[str | Path | Result]:
    """The runs of one side of a comparison.

    A name that holds commas and exists is one run, or one series.

    Raises:
        RequestError: a list is empty, or a name is missing beside a comma.
    """
    from memgauge.model.storage.series import series_in

    if isinstance(source, (str, Path)) and (series := series_in(Path(source))):
        return series
    if isinstance(source, (list, tuple)):
        if not source:
            raise RequestError("compare: a side without runs; give one run or more")
        return source
    if not isinstance(source, str) or "," not in source or _exists(source):
        return [source]  # type: ignore[list-item]
    names = source.split(",")
    if not all(names):
        raise RequestError(
            f"{quoted(source)}: a name is missing beside a comma; write the runs of a side as A1,A2"
        )
    return names


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except OSError:  # no name that a file can have
        return False


def source_of(source: str | Path | Result) -> Source:
    """One run, published results, or a file of another tool, as a source of a comparison.

    Raises:
        RunFileError: it is no run.
        RequestError: there are no published results of that name.
    """
    from memgauge.analysis.comparison.figures import of_reference, of_run
    from memgauge.analysis.figures.run import figures_of
    from memgauge.references import library
    from memgauge.references.foreign.files import read_foreign

    if isinstance(source, Result):
        return of_run(figures_of(source.run), str(source.directory))
    name = name_of(source, "compare")
    if name.startswith(library.PREFIX):
        return of_reference(library.load(name))
    if name in library.NAMES and not Path(name).exists():
        raise RequestError(
            f"{name}: no such run; write {library.PREFIX}{name} for the published results"
        )
    foreign = read_foreign(Path(name))
    if foreign is not None:
        return of_reference(foreign)
    result = load_run(name)
    return of_run(figures_of(result.run), str(result.directory))
