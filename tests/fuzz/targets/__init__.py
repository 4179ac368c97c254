"""What is fuzzed: each module a group of readers, with `seeds()` and `run(data)`.

`run` asserts that whatever the bytes, the readers give a value that can be used, or the error that
they document, in one plain line. `IS_JSON` says that lines of JSON are worth keeping well-formed.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Protocol, cast

NAMES = (
    "records",
    "profiles",
    "cluster",
    "machines",
    "trees",
    "events",
    "parameters",
    "texts",
    "outputs",
    "tools",
)


class Target(Protocol):
    """A group of readers."""

    IS_JSON: bool

    def seeds(self) -> Iterable[bytes]:
        """Inputs to begin with, made by the code of the tests."""

    def run(self, data: bytes) -> None:
        """Read, and use what comes out; raises whatever must not be."""


def load(name: str) -> Target:
    """The target of that name."""
    return cast("Target", import_module(f"tests.fuzz.targets.{name}"))
