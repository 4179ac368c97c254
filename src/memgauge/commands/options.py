"""click options made from parameter structs: one declaration gives flag, help and check."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from memgauge.model.parameters import ParameterField, Parameters, fields_of

Function = TypeVar("Function", bound=Callable[..., Any])


def options_of(*structs: type[Parameters]) -> Callable[[Function], Function]:
    """Decorate a command with one option for each parameter of the structs."""

    def decorate(function: Function) -> Function:
        for field in reversed([field for struct in structs for field in fields_of(struct)]):
            function = _option(field)(function)
        return function

    return decorate


def given(struct: type[Parameters], values: dict[str, Any]) -> dict[str, Any]:
    """Those of the values that belong to the struct and were given on the command line."""
    return {
        field.name: value
        for field in fields_of(struct)
        if (value := values.get(field.keyword)) is not None
    }


def _option(field: ParameterField) -> Callable[[Function], Function]:
    text = _help(field)
    if field.option.is_switch:
        return click.option(field.flag, field.keyword, is_flag=True, default=None, help=text)
    if field.option.repeatable:
        return click.option(
            field.flag,
            field.keyword,
            metavar=field.option.metavar,
            multiple=True,
            help=text,
            callback=_joined,
        )
    return click.option(field.flag, field.keyword, metavar=field.option.metavar, help=text)


def _joined(ctx: click.Context, parameter: click.Parameter, values: Iterable[str]) -> str | None:
    """A flag given several times is one comma-separated list; None when it was not given."""
    del ctx, parameter
    return ",".join(values) or None


def _help(field: ParameterField) -> str:
    parts = [field.option.help]
    if field.option.choices:
        parts.append("(" + ", ".join(field.option.choices) + ")")
    default = None if field.option.is_switch else field.default_text
    if default and default != ",".join(field.option.choices):
        parts.append(f"[default: {default}]")
    elif default:
        parts.append("[default: all]")
    return " ".join(parts)
