"""`memgauge completion SHELL`: commands, options and their values, completed by the shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from memgauge.model.errors import RequestError

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the script that makes a shell complete these commands.

    It goes into ~/.bashrc; into ~/.zshrc, after compinit; or into a file of
    ~/.config/fish/completions.
    """
    from memgauge.commands.root import root

    made = get_completion_class(shell)
    if made is None:
        raise RequestError(f"{shell}: this version of click cannot complete it; update click")
    click.echo(made(root, {}, "memgauge", "_MEMGAUGE_COMPLETE").source(), nl=False)
