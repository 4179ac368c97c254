"""The library of machines: the caches of named ones, of a user's own file, and of this machine.

Each that ships is a file `data/NAME.toml` with the fields of `CacheMachine`: what is published
stands with its source, what is not known and was chosen stands under `assumptions`.
"""

from __future__ import annotations

import os
import tomllib
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from memgauge.machines.faults import known
from memgauge.machines.this import this_machine
from memgauge.model.cache_machine import THIS, CacheMachine
from memgauge.model.errors import RequestError
from memgauge.model.storage.files import read_file
from memgauge.model.system import System
from memgauge.model.text import did_you_mean, plain, quoted

SHIPPED = (
    "power9-5mb",
    "power9-5mb-halves",
    "power9-110mb",
    "xeon-gold-6130",
    "ampere-altra",
    "hybrid-12",
)
NAMES = (THIS, *SHIPPED)
MOST_BYTES = 64 << 10
"""Of a user's file: 30 times the longest that ships."""
MOST_DOTS = 100
"""In one line: the time that tomllib takes grows with the square of the parts of a key."""
_SUFFIX = ".toml"


def load(name: str, system: System | None = None) -> CacheMachine:
    """The machine of that name, or of the TOML file of that path.

    `system` is what `this` is made from.

    Raises:
        RequestError: there is none of that name (the nearest and all are named), the file cannot be
            read or is none of a machine, or `this` shows no caches.
    """
    if name == THIS:
        if system is None:
            raise RequestError(
                f"machine {THIS}: nothing is known here about this machine; choose from "
                f"{', '.join(SHIPPED)}, or give a TOML file"
            )
        return this_machine(system)
    if name in SHIPPED:
        return _shipped(name)
    if is_path(name):
        return of_file(Path(name))
    raise RequestError(_unknown(name))


def is_path(name: str) -> bool:
    """Whether a machine is asked for by the path of its file."""
    return name.endswith(_SUFFIX) or os.sep in name


def of_file(path: Path) -> CacheMachine:
    """A user's own machine.

    Raises:
        RequestError: the file cannot be read, is no TOML, has not the fields of a machine, or calls
            it as one that ships.
    """
    where = f"machine {quoted(str(path))}"
    try:
        text = read_file(path, MOST_BYTES).decode()
    except UnicodeDecodeError as error:
        raise RequestError(f"{where}: is not UTF-8; give a TOML file") from error
    except OSError as error:
        raise RequestError(
            f"{where}: cannot be read: {error.strerror}; check the path, or choose from "
            f"{', '.join(NAMES)}"
        ) from error
    machine = _parsed(text, where)
    if machine.name in NAMES:
        raise RequestError(
            f"{where}: calls itself {quoted(machine.name)}, which is another machine's name; give "
            "it a name of its own"
        )
    return machine


@cache
def _shipped(name: str) -> CacheMachine:
    file = resources.files("memgauge.machines") / "data" / f"{name}{_SUFFIX}"
    return _parsed(file.read_text(encoding="utf-8"), f"machine {name}")


def _parsed(text: str, where: str) -> CacheMachine:
    try:
        machine = msgspec.convert(_table(text, where), CacheMachine)
    except msgspec.ValidationError as error:
        raise RequestError(
            f"{where}: does not describe a machine's caches: {known(error)}; see docs/machines.md"
        ) from error
    if machine.cores + machine.idle_cores > machine.machine_cores:
        raise RequestError(
            f"{where}: {machine.cores} cores at work and {machine.idle_cores} idle are more than "
            f"its machine_cores, {machine.machine_cores}; correct one of them"
        )
    return machine


def _table(text: str, where: str) -> dict[str, Any]:
    """The table that a text is in TOML."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > MOST_DOTS:
            raise RequestError(
                f"{where}: line {number} holds {line.count('.')} dots, more than {MOST_DOTS}; "
                "shorten it"
            )
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        why = plain(str(error))
        why = why[:1].lower() + why[1:]
    except RecursionError:
        why = "its brackets are nested too deeply"
    except ValueError:  # int() refuses to read so many digits
        why = "it holds a number of thousands of digits"
    raise RequestError(f"{where}: is not valid TOML: {why}; see docs/machines.md")


def _unknown(name: str) -> str:
    choices = f"{did_you_mean(name.lower(), NAMES)} choose from {', '.join(NAMES)}".lstrip()
    return (
        f"machine {quoted(name)}: no machine has this name; {choices}, or give the path of a "
        "TOML file"
    )
