"""Signatures and documentation of functions whose options are declared as parameter structs.

`help(memgauge.stream)`, `inspect.signature` and the stub `__init__.pyi`, which editors and checkers
read, all follow from the declarations from which the command line is made.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator
from importlib import import_module
from keyword import iskeyword
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from memgauge.model.errors import RequestError
from memgauge.model.experiments import SURVEYED
from memgauge.model.parameters import (
    CommonParameters,
    ParameterField,
    Parameters,
    RunOptions,
    fields_of,
)

_STRUCTS: dict[str, tuple[str, ...]] = {
    "traffic": ("experiments.traffic.parameters:TrafficOptions",),
    "diagnose": (
        "experiments.diagnose.parameters:DiagnoseOptions",
        "experiments.diagnose.parameters:DiagnoseRunOptions",
    ),
    "profile": ("runner.profiling.parameters:ProfileParameters",),
    "watch": ("runner.watching.parameters:WatchParameters",),
}
"""Of functions that are no experiment's of a survey, after `memgauge.`; those without their own
options of a run take those of every run."""
_OWN_RUN_OPTIONS = frozenset({"diagnose", "profile", "watch"})
NAMES = ("survey", *SURVEYED, *_STRUCTS)
_NUMBERS = {bool: "bool", int: "int", float: "float", str: "str"}
_WIDTH = 96


class Described(msgspec.Struct, frozen=True, kw_only=True):
    """One option of a function."""

    keyword: str
    type: str
    """As a checker reads it."""
    default: object
    help: str


def options_of(name: str) -> list[Described]:
    """Options of a function of the package, in the order of its command's --help.

    Args:
        name: One of `NAMES`.

    Raises:
        RequestError: its experiment needs the native core, which is missing.
    """
    return [
        Described(
            keyword=field.name if iskeyword(field.keyword) else field.keyword,
            type=_type(hints[field.name], field),
            default=field.default,
            help=_help(field),
        )
        for struct in _structs(name)
        for hints in (get_type_hints(struct),)
        for field in fields_of(struct)
        if field.name not in struct.unlisted
    ]


def described(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function the signature and the documentation of its options, once.

    Args:
        name: One of `NAMES`; of any other the function stays as it is.
        function: Takes its options as `**options`.
    """
    if name not in NAMES or hasattr(function, "__signature__"):
        return function
    try:
        found = options_of(name)
    except RequestError:  # without the native core the function says so when it is called
        return function
    before = inspect.signature(function)
    kept = [
        one for one in before.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    positional = [one for one in kept if one.kind is not inspect.Parameter.KEYWORD_ONLY]
    own = [one for one in kept if one.kind is inspect.Parameter.KEYWORD_ONLY]
    options = [
        inspect.Parameter(
            one.keyword, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=one.type
        )
        for one in found
    ]
    function.__signature__ = before.replace(  # type: ignore[attr-defined]
        parameters=[*positional, *own, *options]
    )
    function.__doc__ = _documented(function.__doc__ or "", found)
    return function


def _structs(name: str) -> Iterator[type[Parameters]]:
    if name == "survey":
        yield CommonParameters
    elif name in SURVEYED:
        from memgauge.experiments.registry import load

        yield load(name).parameters
    for place in _STRUCTS.get(name, ()):
        module, _, struct = place.partition(":")
        yield getattr(import_module(f"memgauge.{module}"), struct)
    if name not in _OWN_RUN_OPTIONS:
        yield RunOptions


def _type(hint: object, field: ParameterField) -> str:
    """Native types where they are numbers, and text, which every option takes."""
    kinds = [one for one in (get_args(hint) or (hint,)) if one is not type(None)]
    optional = " | None" if type(None) in get_args(hint) else ""
    if field.option.is_switch:
        return "bool"
    names = []
    for kind in kinds:
        inner = next((one for one in get_args(kind) if one is not Ellipsis), None)
        if get_origin(kind) is tuple and inner is not None:
            of = _NUMBERS.get(inner, "Any")
            names += [of, f"Sequence[{of}]"]
        else:
            names.append(_NUMBERS.get(kind, "Any"))
    distinct = list(dict.fromkeys([*names, "str"]))
    return "Any" if "Any" in distinct else " | ".join(distinct) + optional


def _help(field: ParameterField) -> str:
    default = field.default_text
    return f"{field.option.help} (default: {default})" if default else field.option.help


def _documented(text: str, options: list[Described]) -> str:
    """The text with a paragraph for each option."""
    lines = [inspect.cleandoc(text), "", "Keyword Args:"]
    for one in options:
        lines += textwrap.wrap(
            f"{one.keyword}: {one.help}.",
            _WIDTH,
            initial_indent="    ",
            subsequent_indent="        ",
        )
    return "\n".join(lines) + "\n"
