"""A subpackage that shares its name with a function of the package, such as `memgauge.system`.

Importing the subpackage anywhere in the program binds its module to the name. So the module can be
called like the function.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class CallableModule(ModuleType):
    """A module that forwards calls to a function, which is loaded on the first call."""

    __answers__: tuple[str, str]

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function."""
        module, name = self.__answers__
        return getattr(import_module(module), name)(*args, **options)


def answer_calls(module: str, target: str, function: str) -> None:
    """Let calls of one module be calls of a function in another.

    Args:
        module: Full name of the module that becomes callable; it is imported already.
        target: Full name of the module that defines the function; the first call imports it.
        function: Name of the function or class there.
    """
    made = sys.modules[module]
    made.__class__ = CallableModule
    made.__answers__ = (target, function)  # type: ignore[attr-defined]
