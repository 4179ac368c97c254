"""click options made from parameter structs: one declaration gives flag, help and check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from memgauge.commands.shared.completing import files, listed_values
from memgauge.commands.shared.help import GroupedOption
from memgauge.model.memory import HOST_HELP, memory_option
from memgauge.model.parameters import (
    AnyParameters,
    ParameterField,
    Parameters,
    build,
    fields_of,
)

Function = TypeVar("Function", bound=Callable[..., Any])


def options_of(
    *structs: type[Parameters], several: Iterable[str] = (), measures_gpus: bool = True
) -> Callable[[Function], Function]:
    """Decorate a command with one option for each parameter of the structs.

    Args:
        structs: declare the parameters.
        several: names of parameters that the command takes any number of times, as a tuple of
            texts, which is empty where none was given.
        measures_gpus: whether the help of --memory offers a GPU's.
    """

    def decorate(function: Function) -> Function:
        known = [(struct, field) for struct in structs for field in fields_of(struct)]
        for struct, field in reversed(known):
            listed = field.name not in struct.unlisted
            if field.option.help == memory_option.help and not measures_gpus:
                option = msgspec.structs.replace(field.option, help=HOST_HELP)
                field = msgspec.structs.replace(field, option=option)  # noqa: PLW2901
            function = _option(field, several=field.name in several, listed=listed)(function)
        return function

    return decorate


def given(struct: type[Parameters], values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values that belong to the struct and were given on the command line."""
    return {
        field.name: value
        for field in fields_of(struct)
        if (value := values.get(field.keyword)) is not None
    }


def requested(
    struct: type[AnyParameters], values: Mapping[str, Any], **further: object
) -> AnyParameters:
    """The struct, from the values of the command line and what else is known."""
    return build(struct, **given(struct, values), **further)


def run_argument(function: Function) -> Function:
    """The run that a command reads."""
    return click.argument("run", type=click.Path(path_type=Path))(function)


full_option = click.option(
    "--full",
    is_flag=True,
    help="print every section of a survey, and the answer last; without it the answer alone",
)


def form_option(forms: Iterable[str], help_: str) -> Callable[[Function], Function]:
    """The kind of file that a command makes; the first unless asked otherwise."""
    names = list(forms)
    return click.option(
        "--format",
        "form",
        type=click.Choice(names),
        default=names[0],
        show_default=True,
        help=help_,
    )


def page_option(function: Function) -> Function:
    """Where a command writes an HTML page; None where it was not said."""
    return click.option(
        "--html",
        "page",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="write one self-contained HTML page",
    )(function)


def json_option(function: Function) -> Function:
    """Whether a command prints its document instead of text."""
    return click.option(
        "--json", "as_json", is_flag=True, help="print one JSON document and nothing else"
    )(function)


def output_option(help_: str) -> Callable[[Function], Function]:
    """Where a command writes; None where it was not said."""
    return click.option("--output", type=click.Path(path_type=Path), default=None, help=help_)


def _option(
    field: ParameterField, *, several: bool, listed: bool
) -> Callable[[Function], Function]:
    """An option that --help does not list is read all the same, and refused with the reason."""
    form: dict[str, Any] = {"metavar": field.option.metavar}
    if field.option.choices:
        form["shell_complete"] = listed_values(field.option.choices)
    elif field.option.metavar in {"DIR", "FILE", "PROFILE"}:
        form["shell_complete"] = files
    if several:
        form |= {"multiple": True}
    elif field.option.is_switch:
        form = {"is_flag": True, "default": None}
    elif field.option.repeatable:
        form |= {"multiple": True, "callback": _joined}
    return click.option(
        field.flag,
        field.keyword,
        cls=GroupedOption,
        group=field.option.group,
        help=_help(field),
        hidden=not listed,
        **form,
    )


def _joined(ctx: click.Context, parameter: click.Parameter, values: Iterable[str]) -> str | None:
    """A flag given several times is one comma-separated list; None when it was not given.

    An empty text was given: it stays, for the parser to refuse.
    """
    del ctx, parameter
    texts = tuple(values)
    return ",".join(texts) if texts else None


def _help(field: ParameterField) -> str:
    parts = [field.option.help]
    if field.option.choices:
        parts.append("(" + ", ".join(field.option.choices) + ")")
    default = None if field.option.is_switch else field.option.automatic or field.default_text
    if default and default != ",".join(field.option.choices):
        parts.append(f"[default: {default}]")
    elif default:
        parts.append("[default: all]")
    return " ".join(parts)
