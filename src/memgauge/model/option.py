"""One option of an experiment: how its text is read, checked and written back.

An `Option` stands in the Annotated type of a parameter and is all that the command line, the
Python API and the records know about it. Its text form is canonical: a native value handed to the
API is written as text and read again, so that one parser validates every way in.
"""

import math
import os
import re
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, Literal

import msgspec

from memgauge.model import units
from memgauge.model.arguments import LARGEST_PID
from memgauge.model.errors import RequestError
from memgauge.model.text import did_you_mean, is_system_text, quoted

Group = Literal["what", "where", "effort", "output"]
"""Topics of options in --help: what to measure, where, how long and precisely, and the output."""


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """Describes one option: its help, its parser and its text form."""

    help: str
    """One line, lowercase start, no full stop."""
    metavar: str
    parse: Callable[[str, str], Any]
    """Converts text and flag to the native value; raises RequestError."""
    write: Callable[[Any], str] = str
    """Converts a native value to text that `parse` reads back."""
    choices: tuple[str, ...] = ()
    repeatable: bool = False
    """Whether it is a list: values are separated by commas, or the flag is repeated."""
    flag: str | None = None
    """The flag; None to derive it from the parameter's name."""
    automatic: str | None = None
    """What a value of None stands for; if this is None, the value must not be None."""
    is_switch: bool = False
    """Whether it is a switch: true or false, without a value on the command line."""
    group: Group = "what"
    """Heading under which --help lists it."""
    natives: tuple[type, ...] = (Real, msgspec.Struct)
    """Accepted types besides text; for a list, the types of its elements. Lists are accepted by
    repeatable options, and if `list` is among these types."""


def grouped(option: Option, group: Group) -> Option:
    """The option under another heading of --help."""
    return msgspec.structs.replace(option, group=group)


def choice_option(
    help: str,  # noqa: A002
    choices: Sequence[str],
    *,
    automatic: str | None = None,
) -> Option:
    """One of the named choices; native value `str`.

    Args:
        help: One line for --help: lowercase start, no full stop.
        choices: Accepted names, in the order in which --help lists them.
        automatic: What a value of None stands for, in words; None makes a value necessary.
    """
    return Option(
        help=help,
        metavar="NAME",
        parse=lambda text, flag: _chosen(text.strip(), flag, choices),
        choices=tuple(choices),
        automatic=automatic,
    )


def choices_option(
    help: str,  # noqa: A002
    choices: Sequence[str],
    *,
    automatic: str | None = None,
) -> Option:
    """Some of the named choices, each once; native value `tuple[str, ...]`.

    Args:
        help: One line for --help: lowercase start, no full stop.
        choices: Accepted names, in the order in which --help lists them.
        automatic: What a value of None stands for, in words; None makes a value necessary.
    """
    return Option(
        help=help,
        metavar="NAME,...",
        parse=_each(lambda name, flag: _chosen(name.strip(), flag, choices)),
        write=list_text,
        choices=tuple(choices),
        repeatable=True,
        automatic=automatic,
    )


def count_option(
    help: str,  # noqa: A002
    low: int,
    high: int,
    *,
    automatic: str | None = None,
) -> Option:
    """One whole number; native value `int`.

    Args:
        help: One line for --help: lowercase start, no full stop.
        low: Smallest accepted number.
        high: Largest accepted number.
        automatic: What a value of None stands for, in words; None makes a value necessary.
    """
    return Option(
        help=help,
        metavar="N",
        parse=lambda text, flag: units.parse_count(text, flag, low, high),
        automatic=automatic,
    )


def directory_option(help: str, *, automatic: str) -> Option:  # noqa: A002
    """Where to write; native value `str`."""
    return Option(
        help=help,
        metavar="DIR",
        parse=_path,
        write=os.fsdecode,
        automatic=automatic,
        natives=(os.PathLike,),
    )


def run_option(help: str, *, metavar: str = "RUN", automatic: str) -> Option:  # noqa: A002
    """A run that was made before, which is read later; native value `str`.

    Args:
        help: What it is and what it is used for.
        metavar: Name of the value in the help.
        automatic: What applies without it.
    """
    return Option(
        help=help,
        metavar=metavar,
        parse=lambda text, _flag: text,
        write=os.fsdecode,
        automatic=automatic,
        natives=(os.PathLike,),
    )


def process_option(help: str, *, automatic: str) -> Option:  # noqa: A002
    """A process that runs already; native value `int`.

    Args:
        help: One line for --help: lowercase start, no full stop.
        automatic: What a value of None stands for, in words.
    """
    return Option(help=help, metavar="PID", parse=parse_pid, automatic=automatic)


def parse_pid(text: str, option: str) -> int:
    """A process identifier."""
    if not re.fullmatch(r"[0-9]{1,10}", text, re.ASCII) or not 0 < int(text) <= LARGEST_PID:
        raise RequestError(
            f"{option} {quoted(text)} is not a process identifier; write the number that 'ps' shows"
        )
    return int(text)


def size_option(help: str, *, automatic: str | None = None) -> Option:  # noqa: A002
    """A size; native value `int` bytes."""
    return Option(
        help=help,
        metavar="SIZE",
        parse=units.parse_bytes,
        write=lambda value: units.bytes_text(value) if type(value) is int else str(value),
        automatic=automatic,
    )


def sizes_option(help: str, *, automatic: str | None = None) -> Option:  # noqa: A002
    """A list of sizes; native value `tuple[int, ...]` bytes."""
    return Option(
        help=help,
        metavar="SIZE,...",
        parse=_each(units.parse_bytes),
        write=list_text,
        repeatable=True,
        automatic=automatic,
    )


def duration_option(
    help: str,  # noqa: A002
    *,
    flag: str | None = None,
    automatic: str | None = None,
) -> Option:
    """A time; native value `float` seconds.

    Args:
        help: One line for --help: lowercase start, no full stop.
        flag: Flag such as `--budget`; None derives it from the parameter's name.
        automatic: What a value of None stands for, in words; None makes a value necessary.
    """
    return Option(
        help=help,
        metavar="TIME",
        parse=units.parse_duration,
        write=_seconds,
        flag=flag,
        automatic=automatic,
    )


def share_option(help: str, *, automatic: str | None = None) -> Option:  # noqa: A002
    """A share between 0 and 1; native value `float`."""
    return Option(
        help=help,
        metavar="SHARE",
        parse=units.parse_share,
        write=_number_text,
        automatic=automatic,
    )


def shares_option(help: str, *, automatic: str | None = None) -> Option:  # noqa: A002
    """A list of shares from 0 to 1, both included; native value `tuple[float, ...]`."""
    return Option(
        help=help,
        metavar="SHARE,...",
        parse=_each(units.parse_whole_share),
        write=_shares,
        repeatable=True,
        automatic=automatic,
    )


def counts_option(
    help: str,  # noqa: A002
    low: int,
    high: int,
    *,
    automatic: str | None = None,
) -> Option:
    """A list of whole numbers such as `1,2,4-8`; native value `tuple[int, ...]`.

    Args:
        help: One line for --help: lowercase start, no full stop.
        low: Smallest accepted number.
        high: Largest accepted number.
        automatic: What a value of None stands for, in words; None makes a value necessary.
    """
    return Option(
        help=help,
        metavar="LIST",
        parse=lambda text, flag: units.parse_counts(text, flag, low, high),
        write=_counts,
        repeatable=True,
        automatic=automatic,
    )


def switch_option(help: str) -> Option:  # noqa: A002
    """True or false; native value `bool`."""

    def parse(text: str, flag: str) -> bool:
        if text not in {"true", "false"}:
            raise RequestError(f"{flag} {quoted(text)} is neither true nor false; write one")
        return text == "true"

    return Option(
        help=help,
        metavar="",
        parse=parse,
        write=lambda value: "true" if value is True else "false" if value is False else str(value),
        is_switch=True,
    )


def list_text(values: object) -> str:
    """A list in the form that `parse` reads; other values unchanged, for the parser to check."""
    if isinstance(values, Sequence) and not isinstance(values, str):
        return ",".join(map(str, values))
    return str(values)


def _each(parse: Callable[[str, str], Any]) -> Callable[[str, str], tuple[Any, ...]]:
    """A parser of values between commas, each kept once."""
    return lambda text, flag: tuple(dict.fromkeys(parse(part, flag) for part in text.split(",")))


def _chosen(name: str, flag: str, choices: Sequence[str]) -> str:
    if name not in choices:
        meant = f"{did_you_mean(name, choices, alike=0.6)} choose from {', '.join(choices)}"
        raise RequestError(f"{flag} {quoted(name)} is not known; {meant.lstrip()}")
    return name


def _path(text: str, flag: str) -> str:
    if not text or not is_system_text(text):
        raise RequestError(f"{flag} {quoted(text)} is not a path; write the name of a directory")
    return text


def _counts(value: object) -> str:
    if isinstance(value, Sequence) and value and all(type(item) is int for item in value):
        return units.counts_text(tuple(value))
    return list_text(value)


def _shares(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(map(_number_text, value))
    return _number_text(value)


def _seconds(value: object) -> str:
    """Seconds with their unit; other values unchanged, for the parser to refuse."""
    is_number = isinstance(value, int | float) and math.isfinite(value)
    return f"{_number_text(value)}s" if is_number else str(value)


def _number_text(value: object) -> str:
    """The text of a number; floats without a fraction as whole numbers, so that 60.0 reads `60`."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
