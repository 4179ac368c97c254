"""Write the man pages of all commands from their help: python .ci/man_pages.py docs/man.

With --check nothing is written, and the exit code is 1 where a page would change.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from memgauge.commands.root import root
from memgauge.commands.shared.help import HEADINGS

SEE = "The pages of the documentation say how each figure is measured and what would invalidate it."


def main() -> int:
    """Write or compare all pages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    pages = {f"{name.replace(' ', '-')}.1": page for name, page in pages_of(root, "memgauge", None)}
    known = {path.name: path.read_text(encoding="utf-8") for path in asked.directory.glob("*.1")}
    if asked.check:
        differ = sorted(name for name in pages.keys() | known if pages.get(name) != known.get(name))
        if differ:
            sys.stderr.write(
                f"not as the commands are: {', '.join(differ)}; run 'make generated'\n"
            )
        return int(bool(differ))
    for name in known.keys() - pages:
        (asked.directory / name).unlink()
    for name, page in pages.items():
        (asked.directory / name).write_text(page, encoding="utf-8")
    return 0


def pages_of(
    command: click.Command, name: str, parent: click.Context | None
) -> Iterator[tuple[str, str]]:
    """Name and page of a command and of all its subcommands."""
    context = click.Context(command, info_name=name.rpartition(" ")[2], parent=parent)
    found = subcommands(command, context)
    yield name, "\n".join(page(command, name, context, found)) + "\n"
    for sub, made in found:
        yield from pages_of(made, f"{name} {sub}", context)


def subcommands(command: click.Command, context: click.Context) -> list[tuple[str, click.Command]]:
    """Those of a group, with their names; of a single command none."""
    names = command.list_commands(context) if isinstance(command, click.Group) else []
    made = [(name, command.get_command(context, name)) for name in names]
    return [(name, sub) for name, sub in made if sub is not None]


def page(
    command: click.Command,
    name: str,
    context: click.Context,
    subcommands: list[tuple[str, click.Command]],
) -> Iterator[str]:
    """The lines of one page, in the macros of man(7)."""
    dashed = name.replace(" ", "-")
    yield ".\\\" Generated from the command's own help by 'make generated'."
    yield f'.TH {dashed.upper()} 1 "" "memgauge" "User Commands"'
    yield ".SH NAME"
    yield f"{escaped(dashed)} \\- {escaped(command.get_short_help_str(200).rstrip('.'))}"
    yield ".SH SYNOPSIS"
    pieces = " ".join(command.collect_usage_pieces(context))
    yield f"\\fB{escaped(name)}\\fR {escaped(pieces)}"
    yield ".SH DESCRIPTION"
    yield from paragraphs(command.help or "")
    yield from options(command, context)
    if subcommands:
        yield ".SH COMMANDS"
        for sub, made in subcommands:
            yield ".TP"
            yield f"\\fB{escaped(f'{dashed}-{sub}')}\\fR(1)"
            yield escaped(made.get_short_help_str(200))
    yield ".SH SEE ALSO"
    yield (f"\\fB{escaped(dashed.rpartition('-')[0])}\\fR(1). " if "-" in dashed else "") + SEE


def options(command: click.Command, context: click.Context) -> Iterator[str]:
    """Options under the headings of --help."""
    listed = [
        (getattr(one, "group", None), record)
        for one in command.get_params(context)
        if (record := one.get_help_record(context)) is not None
    ]
    if listed:
        yield ".SH OPTIONS"
    for group, heading in HEADINGS.items():
        mine = [record for of, record in listed if of == group]
        if mine and len({of for of, _ in listed}) > 1:
            yield f".SS {escaped(heading)}"
        for flags, said in mine:
            yield ".TP"
            yield f"\\fB{escaped(flags)}\\fR"
            yield escaped(" ".join(said.split()))


def paragraphs(text: str) -> Iterator[str]:
    """Paragraphs of a help text; those after a backspace keep their lines."""
    for block in re.split(r"\n\s*\n", text.partition("\f")[0].strip()):
        lines = block.strip().splitlines()
        yield ".PP"
        if lines and lines[0].strip() == "\b":
            yield ".nf"
            yield from map(escaped, lines[1:])
            yield ".fi"
        else:
            yield escaped(" ".join(line.strip() for line in lines))


def escaped(text: str) -> str:
    """Text that roff prints as it is."""
    shown = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return f"\\&{shown}" if shown[:1] in {".", "'"} else shown


if __name__ == "__main__":
    sys.exit(main())
