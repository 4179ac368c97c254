"""Machines that ship, as the native model takes them: each holds what it is said to hold."""

import pytest

from memgauge.experiments.shared.cache_machines import cache_model
from memgauge.machines import library
from memgauge.model.cache_machine import CacheMachine
from memgauge.system.native import load_core

pytestmark = pytest.mark.native


@pytest.fixture(params=library.SHIPPED)
def machine(request: pytest.FixtureRequest) -> CacheMachine:
    return library.load(request.param)


def second_pass_bytes(machine: CacheMachine, array_bytes: int) -> int:
    """Read from memory as an array is read for the second time, a load for each sector."""
    model = cache_model(machine)
    sector = machine.sector_bytes
    loads = [(1 << 30, sector, 8, "load")]
    model.walk(loads, array_bytes // sector)
    model.reset_counts()
    model.walk(loads, array_bytes // sector)
    return model.counts().read_bytes


def test_what_one_core_may_cache_is_read_once(machine: CacheMachine) -> None:
    assert second_pass_bytes(machine, machine.levels[-1].bytes // 2) == 0
    held = machine.cached_bytes * 9 // 10
    assert second_pass_bytes(machine, held) <= held // 50


def test_what_is_twice_as_large_is_read_again(machine: CacheMachine) -> None:
    """Least recently used and in order: nothing of it is left."""
    size = 2 * machine.cached_bytes + 4 * machine.levels[0].bytes
    assert second_pass_bytes(machine, size) >= size * 9 // 10


def test_stores_bypass_where_the_machine_says_so(machine: CacheMachine) -> None:
    model = cache_model(machine)
    model.walk([(1 << 30, 8, 8, "store")], 1 << 17)
    counts = model.counts()
    if machine.store_streams.lines:
        assert counts.bypass_write_bytes > 0.99 * (1 << 20)
        assert counts.allocate_read_bytes <= (machine.store_streams.lines + 1) * machine.line_bytes
    else:
        assert counts.bypass_write_bytes == 0
        assert counts.allocate_read_bytes == 1 << 20


def test_idle_slices_serve_the_one_core_at_work() -> None:
    mib = 1 << 20
    assert second_pass_bytes(library.load("power9-110mb"), 90 * mib) == 0
    assert second_pass_bytes(library.load("power9-5mb"), 10 * mib) == 10 * mib


def second_loop_reads(machine: CacheMachine, size: int) -> float:
    """Per element, of S1CF's second loop nest on a 2 x 4 grid; 45 columns of `size`."""
    core = load_core()
    spec = core.NestSpec("s1cf-second", planes=size // 2, rows=size // 4, cols=45)
    model = cache_model(machine)
    far = 1 << 30
    core.simulate_nest(spec, [[far * (at + 1) for at in range(len(spec.arrays))]], model)
    return float(model.counts().read_bytes / spec.arrays[0].bytes)


@pytest.mark.parametrize(("name", "size"), [("power9-5mb-halves", 724), ("power9-5mb", 540)])
def test_the_second_loop_of_s1cf_leaves_the_cache_where_its_data_say(name: str, size: int) -> None:
    """Equation 7 of the study: 5 half lines for each of size^2 / 8 elements fill 5 MiB.

    Below, 2 reads an element; above, up to 5.
    """
    machine = library.load(name)
    assert second_loop_reads(machine, size * 9 // 10) == pytest.approx(2, abs=0.15)
    assert second_loop_reads(machine, size * 11 // 10) == pytest.approx(5, abs=0.15)
