"""A user's TOML file of a machine: refused, or shown and simulated."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources

import msgspec
from tests.fuzz.invariants import check_refusal
from tests.fuzz.planted import scratch

from memgauge.commands.machines import _tell
from memgauge.experiments.shared.cache_machines import cache_model, load_simulable
from memgauge.machines.library import SHIPPED
from memgauge.model.errors import RequestError
from memgauge.model.text import plain
from memgauge.simulation.lackey import records_of
from memgauge.simulation.two_levels import two_levels

IS_JSON = False
_TRACE = b"".join(b" %c %x,8\n" % (b"LS"[at % 2], 4096 + 24 * at) for at in range(200))


def seeds() -> Iterator[bytes]:
    """Those that ship, under a name of their own."""
    for name in SHIPPED:
        file = resources.files("memgauge.machines") / "data" / f"{name}.toml"
        yield file.read_bytes().replace(f'"{name}"'.encode(), b'"mine"', 1)


def run(data: bytes) -> None:
    """Read, and use what comes out."""
    place = scratch("machine")
    place.plant({"mine.toml": data})
    try:
        machine = load_simulable(str(place.root / "mine.toml"))
    except RequestError as error:
        check_refusal(error)
        return
    assert all(plain(line) == line for line in map(plain, _tell(machine)))
    msgspec.json.encode(machine)
    assert machine.cached_bytes > 0
    model = cache_model(machine)
    model.trace(records_of(_TRACE))
    model.write_back_all()
    try:
        two_levels(machine)
    except RequestError as error:
        check_refusal(error)
