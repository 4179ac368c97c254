"""Print what --help says of every command, as Markdown: for the documentation's site."""

import sys
from collections.abc import Iterator

import click
from man_pages import subcommands

from memgauge.commands.root import root

WIDTH = 90


def main() -> int:
    """Print all of it."""
    sys.stdout.write("\n".join(sections(root, "memgauge", None)) + "\n")
    return 0


def sections(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    """A heading and the help of a command, then those of its subcommands."""
    context = click.Context(
        command,
        info_name=name.rpartition(" ")[2],
        parent=parent,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
    )
    yield from (f"## {name}", "", "```text", command.get_help(context), "```", "")
    for sub, made in subcommands(command, context):
        yield from sections(made, f"{name} {sub}", context)


if __name__ == "__main__":
    sys.exit(main())
