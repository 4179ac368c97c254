"""What cannot be compared, each refused in one line."""

from collections.abc import Sequence

from memgauge.analysis.comparison.figures import Source
from memgauge.analysis.comparison.ratios import Comparison
from memgauge.model.errors import RequestError
from memgauge.model.memory import names_gpu
from memgauge.model.text import quoted


def refuse_sides(sides: Sequence[Sequence[Source]]) -> None:
    """Refuse sides of which nothing could be told, or something wrong.

    Raises:
        RequestError: a published set or the same run in a side of several runs, or two runs beside
            a single one.
    """
    if all(len(side) == 1 for side in sides):
        return
    _refuse_published(sides)
    _refuse_twice([run for side in sides for run in side])
    baseline, *others = sides
    for other in others:
        if len(baseline) + len(other) == 3 and not baseline[0].published | other[0].published:
            raise RequestError(
                "compare: two runs and one do not show how much figures vary between runs; name "
                "two or more a side (better three), or one and at least three (better five) "
                "earlier ones"
            )


def _refuse_published(sides: Sequence[Sequence[Source]]) -> None:
    for run in (run for side in sides if len(side) > 1 for run in side):
        if run.published:
            raise RequestError(
                f"{run.name}: {'the output of another tool' if run.tool else 'a published table'} "
                "is one result, not one of several runs; name it as a side of its own"
            )


def _refuse_twice(runs: Sequence[Source]) -> None:
    seen: set[str] = set()
    for run in runs:
        if run.run_id in seen:
            raise RequestError(
                f"{quoted(run.name)}: this run is named twice, so that runs would seem to vary "
                "less than they do; name each run once"
            )
        seen |= {run.run_id} if run.run_id else set()


def refuse_nothing(sources: Sequence[Source], made: Comparison, only: str | None) -> None:
    """Say why no figure can be compared, if none can.

    Args:
        sources: What was compared.
        made: The comparison.
        only: Pattern of the figures that were kept; None: all.

    Raises:
        RequestError: a source holds no figure, or no figure is in two of them.
    """
    matching = "" if only is None else f" that matches --only {quoted(only)}"
    for source in sources:
        if not source.figures:
            why = f"; {source.caveats[0]}" if source.caveats and not only else ""
            raise RequestError(
                f"{quoted(source.name)}: holds no figure{matching}{why}; compare another source"
            )
    if not any(pair.rows or pair.diagnosis for pair in made.pairs):
        baseline, *others = (_kinds(source) for source in sources)
        raise RequestError(
            f"compare: no figure{matching} is in {quoted(sources[0].name)} ({baseline}) and in "
            f"another source ({'; '.join(others)}) too; {_why_none(sources)}"
        )


def _why_none(sources: Sequence[Source]) -> str:
    """What keeps files of other tools from being compared, or what would be."""
    apart = {source.tool: source.apart for source in sources if source.apart}
    if not apart:
        return "compare runs that measured the same things"
    return "; ".join(f"{tool}: {why}" for tool, why in apart.items())


def _kinds(source: Source) -> str:
    """The experiments of its figures, and the memory where that is a GPU's."""
    found = {one.name.partition("/")[0]: None for one in source.comparables}
    found |= dict.fromkeys(["diagnose"] if any(source.diagnoses) else [])
    gpus = {
        memory: None
        for one in source.comparables
        if names_gpu(memory := str(one.facts.get("memory", "")))
    }
    return ", ".join(found) + (f" in {', '.join(gpus)}" if gpus else "")
