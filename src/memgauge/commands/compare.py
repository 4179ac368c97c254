"""`memgauge compare A B [C ...]`: what is faster, what is slower, and what is chance.

Each side is one run or several, as in `memgauge compare A1,A2,A3 B1,B2,B3`.
"""

from __future__ import annotations

from pathlib import Path

import click

from memgauge import api
from memgauge.commands.shared.completing import files
from memgauge.commands.shared.options import json_option, page_option
from memgauge.commands.shared.output import print_and_write, print_json, print_report
from memgauge.comparing import Compared
from memgauge.model.errors import ExitCode, RequestError
from memgauge.model.text import few, plain
from memgauge.model.units import parse_share
from memgauge.references.library import NAMES, PREFIX, load

USUAL_SHARE = "5%"
MOST_NAMED = 8
"""Figures named in one line of an error."""


def _print_list(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        for name in NAMES:
            click.echo(f"{PREFIX}{name}: {load(name).title}")
        context.exit()


@click.command("compare")
@click.argument("sources", nargs=-1, metavar="A[,A2,...] B[,B2,...] ...", shell_complete=files)
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_list,
    help="list the published results and exit",
)
@click.option(
    "--only",
    metavar="PATTERN",
    help="compare only figures with these names, such as 'stream/copy/*'",
)
@click.option(
    "--all",
    "full",
    is_flag=True,
    help="print every figure and section, and the answer last; without it the answer alone",
)
@page_option
@json_option
@click.option(
    "--fail-if-slower",
    metavar="SHARE",
    is_flag=False,
    flag_value=USUAL_SHARE,
    help="exit with code 4 if a key figure, or one of --only, is slower than A's by more than this "
    f"share ({USUAL_SHARE} where it is the last word), over its whole interval; with several runs "
    "a side, if it is also not explained by chance",
)
def command(  # noqa: PLR0913 - one for each option
    sources: tuple[str, ...],
    *,
    only: str | None,
    full: bool,
    page: Path | None,
    as_json: bool,
    fail_if_slower: str | None,
) -> int:
    """Compare runs with each other or with published results; A is the baseline.

    A source is the directory of a run, reference:NAME, such as reference:nvdimm-dram, or a file
    that another tool wrote: STREAM, BabelStream, likwid-bench, Intel MLC, multichase, multiload,
    lmbench, Mess, sysbench memory or perf stat. Says what differs between the machines and gives
    each ratio with its interval. One run a side shows what differs between these two runs. Several
    runs a side, separated by commas (A1,A2,A3 B1,B2,B3) or in a directory that 'memgauge survey
    --repeat' made, also show what varies between runs, and so which figures are faster or slower.

    \N{FORM FEED}

    Args:
        sources: Run directories, several of one side separated by commas or in one directory,
            `reference:NAME`, or files of other tools; the first is the baseline.
        only: Glob that selects figures by name; None compares all.
        full: Whether to print all that was compared, not only the verdict and the key figures.
        page: HTML file to write; None writes none.
        as_json: Whether to print the JSON document instead of the report.
        fail_if_slower: Share as text, such as `5%`: if a figure is slower than the baseline's by
            more, the exit code is 4; None leaves speed out of the exit code. Without `only` it is
            one of the key figures, if any can be judged.
    """
    share = None if fail_if_slower is None else parse_share(fail_if_slower, "--fail-if-slower")
    compared = api.compare(*sources, only=only)

    def show() -> None:
        if as_json:
            print_json(compared.document())
        else:
            print_report(compared.report, whole=full)

    def save() -> None:
        if page is not None:
            compared.save(page)
            click.echo(f"page: {plain(str(page))}", err=True)

    print_and_write(show, save)
    return ExitCode.DONE if share is None else _gate(compared, share, only)


def _gate(compared: Compared, share: float, only: str | None) -> int:
    """The exit code of --fail-if-slower, with a line on stderr that says why."""
    if not compared.judged:
        raise RequestError(
            "--fail-if-slower: no figure has intervals in both sources, so nothing can be judged; "
            "compare runs that measured the same things, with a longer --budget, or several runs "
            "a side"
        )
    is_gated = compared.gate(keys_only=only is None)
    left = [name for name in compared.not_judged if is_gated(name)]
    if left:
        click.echo(f"memgauge: --fail-if-slower: not judged: {_some(left)}", err=True)
    slower = [
        f"{row.name} in {source} ({100 * row.speed.value:.1f}% of the baseline's speed, at most "
        f"{100 * row.speed.high:.1f}%)"
        for source, row in compared.slower_than(share)
        if is_gated(row.name)
    ]
    if not slower:
        return ExitCode.DONE
    alone = not any(pair.has_several_runs for pair in compared.comparison.pairs)
    between = " between these runs" if alone else ""
    said = f"slower by more than {100 * share:g}%{between}: {_some(slower)}"
    click.echo(f"memgauge: {said}", err=True)
    return ExitCode.SLOWER


def _some(names: list[str]) -> str:
    return plain(few(names, MOST_NAMED))
