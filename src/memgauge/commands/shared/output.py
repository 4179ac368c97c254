"""What goes to stdout, fitted to whatever stdout is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click
import msgspec

from memgauge.analysis.section import Report
from memgauge.cluster.launch import launch
from memgauge.model.system import System

if TYPE_CHECKING:
    from memgauge.reports.terminal.report import Look

Printed = TypeVar("Printed")


def look_of_stdout() -> Look:
    """What stdout can show."""
    return look_of(sys.stdout)


def look_of(stream: TextIO) -> Look:
    """What a stream can show.

    Of a rank always plain text: Open MPI gives its ranks a terminal even where mpirun's own output
    goes to a file, and what is written there cannot be known.
    """
    from memgauge.reports.terminal.report import Look

    look = Look.of(stream)
    return look if launch() is None else Look(encoding=look.encoding)


def print_report(report: Report, *, whole: bool = True) -> None:
    """The summary: coloured and as wide as the terminal, plain and 80 columns in a pipe.

    Not whole: where a page beside it holds all rows of long tables.
    """
    from memgauge.reports.terminal.report import render

    look = look_of_stdout()
    click.echo(render(report, look.columns, look.color, look.encoding, whole=whole))


def print_system(system: System) -> None:
    """What was found about a machine."""
    from memgauge.reports.terminal.report import render_system

    look = look_of_stdout()
    click.echo(render_system(system, look.columns, look.color, look.encoding))


def print_text(render: Callable[[Look], str]) -> None:
    """What a renderer makes for this output."""
    click.echo(render(look_of_stdout()), nl=False)


def print_and_write(print_it: Callable[[], Printed], write: Callable[[], None]) -> Printed:
    """Print first, for people who wait, then write files, also where stdout cannot be written.

    Args:
        print_it: prints; what it returns is returned.
        write: writes files.

    Raises:
        OSError: of stdout, once the files are written.
    """
    try:
        printed = print_it()
    except OSError:
        write()
        raise
    write()
    return printed


def print_page(page: str) -> None:
    """An HTML page; it says that it is UTF-8, whatever the terminal's encoding is."""
    click.echo(page.encode())


def print_json(document: Any) -> None:
    """One JSON document on one line, in UTF-8 as its standard has it."""
    click.echo(msgspec.json.encode(document))
