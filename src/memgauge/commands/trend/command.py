"""Options of `memgauge trend`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from memgauge import api
from memgauge.commands.shared.completing import files
from memgauge.commands.shared.options import json_option, page_option
from memgauge.commands.shared.output import print_and_write, print_json, print_report
from memgauge.commands.trend.gate import gate
from memgauge.model.errors import ExitCode, RequestError
from memgauge.model.text import plain, quoted
from memgauge.model.units import format_count, parse_age, parse_share
from memgauge.store.trended import Trended

USUAL_SHARE = "5%"
USUAL_RECENT = "14d"


@click.command("trend")
@click.argument(
    "sources",
    nargs=-1,
    metavar="RUN|DIR|STORE ...",
    type=click.Path(path_type=Path),
    shell_complete=files,
)
@click.option(
    "--add-to",
    "store",
    metavar="STORE",
    type=click.Path(path_type=Path),
    help="first add the runs to this store of figures, which is made if it does not exist, then "
    "show the trend of their machine in it (needs memgauge[export])",
)
@click.option(
    "--machine",
    metavar="NAME",
    help="name of the machine: with --add-to the one that the runs are of, of a store the one to "
    "show  [default: with --add-to this host's name, else all, runs by their directories]",
)
@click.option(
    "--only",
    metavar="PATTERN",
    help="track only figures with these names, such as 'stream/copy/*'  [default: all, and of more "
    "than 20 machines the key figures]",
)
@click.option(
    "--since",
    metavar="AGE",
    help="leave out runs that are older than this, counted from the newest run, such as 90d  "
    "[default: all runs]",
)
@page_option
@json_option
@click.option(
    "--fail-if-slower",
    metavar="SHARE",
    is_flag=False,
    flag_value=USUAL_SHARE,
    help="exit with code 4 if the pace or a key figure, or one of --only, of a machine is slower "
    f"by more than this share ({USUAL_SHARE} where it is the last word), over its whole interval, "
    "since a change within --recent; with code 2 if there are too few runs to tell",
)
@click.option(
    "--recent",
    metavar="AGE",
    default=USUAL_RECENT,
    show_default=True,
    help="time before the newest run in which a change makes --fail-if-slower fail",
)
@click.option(
    "--compact",
    is_flag=True,
    help="write the files of the store together, one for each month, and print nothing else",
)
def command(  # noqa: PLR0913 - one for each option
    sources: tuple[Path, ...],
    *,
    store: Path | None,
    machine: str | None,
    only: str | None,
    since: str | None,
    page: Path | None,
    as_json: bool,
    fail_if_slower: str | None,
    recent: str,
    compact: bool,
) -> int:
    """Show what changed over many runs of a machine or a fleet.

    A source is the directory of a run, a file that another tool wrote, such as STREAM, a directory
    that holds runs or such files (those in DIR/NAME are of the machine NAME), or a store that
    --add-to made. Reports which figures changed, when, by how much
    and what else changed then, and which machines stand out.

    \N{FORM FEED}

    Args:
        sources: Directories of runs, files of other tools, directories that hold them, or one
            store.
        store: Store to add the runs to first; None adds them to none.
        machine: Name of the machine; None takes this host's with `store`, else all.
        only: Glob that selects figures by name.
        since: Age as text, such as `90d`, beyond which runs are left out; None leaves out none.
        page: HTML file to write; None writes none.
        as_json: Whether to print the JSON document instead of the report.
        fail_if_slower: Share as text, such as `5%`, that makes the exit code 4; None leaves speed
            out of the exit code.
        recent: Age as text within which a change counts for `fail_if_slower`.
        compact: Whether to compact the store and do nothing else.
    """
    if not sources:
        raise RequestError(
            "trend: no runs are named; name directories of runs, a directory that holds some, or a "
            "store"
        )
    if compact:
        return _compact(sources, store)
    share = None if fail_if_slower is None else parse_share(fail_if_slower, "--fail-if-slower")
    within_s = parse_age(recent, "--recent")
    if store is not None:
        machine = _add(store, sources, machine)
        sources = (store,)
    trended = _read(sources, machine=machine, only=only, since=since)

    def show() -> None:
        if as_json:
            print_json(trended.document())
        else:
            print_report(trended.report)

    def save() -> None:
        if page is not None:
            trended.save(page)
            click.echo(f"page: {plain(str(page))}", err=True)

    print_and_write(show, save)
    if share is None:
        return ExitCode.DONE
    return gate(trended, share, within_s, keys_only=only is None)


def _read(
    sources: tuple[Path, ...], *, machine: str | None, only: str | None, since: str | None
) -> Trended:
    from memgauge.reports.terminal.progress import Progress

    with Progress(sys.stderr, silent=not sys.stderr.isatty()) as progress:

        def show(done_share: float) -> None:
            progress.update("reading and testing", done_share, 0, 0, None)

        return api.trend(*sources, machine=machine, only=only, since=since, on_progress=show)


def _add(store: Path, sources: tuple[Path, ...], machine: str | None) -> str:
    """Add the runs, say so, and return the machine's name."""
    files = api.add_to_store(store, *sources, machine=machine)
    name = files[0].parent.parent.name.partition("=")[2]
    added = format_count(len(files), "run")
    click.echo(f"added: {added} of {plain(name)} to {plain(str(store))}", err=True)
    return name


def _compact(sources: tuple[Path, ...], store: Path | None) -> int:
    from memgauge.store.compact import compact
    from memgauge.store.layout import is_store

    if store is not None or len(sources) > 1:
        raise RequestError("--compact works on one store and nothing else; name that store alone")
    if not is_store(sources[0]):
        raise RequestError(
            f"--compact {quoted(str(sources[0]))}: is not a store of figures; name the directory "
            "that 'memgauge trend --add-to' wrote"
        )
    done = compact(sources[0])
    click.echo(
        f"compacted: {format_count(done.files, 'file')} into {format_count(done.months, 'month')}",
        err=True,
    )
    return ExitCode.DONE
