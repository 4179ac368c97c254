"""What the tab key offers beyond click's own: values behind `=`, lists, files, names or files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem[str]]]


class _WholeWords(ShellComplete):
    """Of shells that replace the whole word, its flag too: `--kernel=tr` by `--kernel=triad`."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        """What click finds for the value, with the flag before it."""
        found = super().get_completions(args, incomplete)
        flag, sign, _ = incomplete.partition("=")
        if sign and flag.startswith("--"):
            for item in found:
                if item.type == "plain":
                    item.value = f"{flag}={item.value}"
        return found


class _Bash(BashComplete):
    """Bash makes three words of `--kernel=triad` and replaces the last of them."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """As click finds them, without the signs between options and their values."""
        args, incomplete = super().get_completion_args()
        words = [
            word
            for before, word in pairwise(["", *args])
            if not (word == "=" and before.startswith("--"))
        ]
        return words, incomplete


class _Zsh(_WholeWords, ZshComplete):
    """Files are sought behind the flag, if the word begins with one."""

    source_template = ZshComplete.source_template.replace(
        "_path_files", "compset -P '--*='; _path_files"
    )


class _Fish(_WholeWords, FishComplete):
    """A value has commas of its own: the type ends at the first."""

    source_template = FishComplete.source_template.replace(
        'string split ","', 'string split --max 1 ","'
    )


def register() -> None:
    """Make these the ones that click asks."""
    for made in (_Bash, _Zsh, _Fish):
        add_completion_class(made)


def files(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Whatever the shell finds in directories.

    Args:
        ctx: Of the command; not used.
        parameter: What is completed; not used.
        incomplete: What was typed of it.
    """
    del ctx, parameter
    return [CompletionItem(incomplete, type="file")]


def machine_or_file(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """The machines that ship and begin so; files if none does, as shells show one or the other.

    Args:
        ctx: Of the command; not used.
        parameter: What is completed; not used.
        incomplete: What was typed of it.
    """
    from memgauge.machines.library import NAMES

    known = [CompletionItem(name) for name in NAMES if name.startswith(incomplete)]
    return known or files(ctx, parameter, incomplete)


def listed_values(choices: Sequence[str]) -> Completer:
    """The last value of a list between commas, without those that it has."""

    def complete(
        ctx: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        del ctx, parameter
        before, comma, last = incomplete.rpartition(",")
        given = set(before.split(","))
        return [
            CompletionItem(f"{before}{comma}{one}")
            for one in choices
            if one.startswith(last) and one not in given
        ]

    return complete
