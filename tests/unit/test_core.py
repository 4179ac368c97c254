"""The native module: typed errors, closing, signals in long calls."""

from __future__ import annotations

import re
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memgauge.model.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memgauge import _core as core
else:
    core = pytest.importorskip(
        "memgauge._core", reason="the native core is not built (make test builds it)"
    )

pytestmark = pytest.mark.native


def test_what_built_the_core_is_known() -> None:
    assert re.fullmatch(r"(gcc|clang) \d+\.\d+\.\d+", core.compiler)


@pytest.fixture
def team() -> core.Team:
    return core.Team(core.allowed_cpus()[:2])


@pytest.fixture
def arrays(team: core.Team) -> core.StreamArrays:
    return core.StreamArrays(team, 100_000, blocks=4)


@pytest.fixture
def ring(team: core.Team) -> core.ChaseRing:
    return core.ChaseRing(team, 1 << 16)


class TestErrors:
    def test_a_cpu_outside_the_mask_is_named_with_the_choices(self) -> None:
        with pytest.raises(RequestError, match=r"^cpu 100000 is not allowed .*allowed: \d"):
            core.Team([100_000])

    def test_a_cpu_is_given_once(self) -> None:
        cpu = core.allowed_cpus()[0]
        with pytest.raises(RequestError, match=f"^cpu {cpu} is listed twice"):
            core.Team([cpu, cpu])

    def test_a_team_has_a_cpu(self) -> None:
        with pytest.raises(RequestError, match="at least one CPU"):
            core.Team([])

    @pytest.mark.parametrize("wrong", ["operation", "element", "variant", "isa", "store"])
    def test_an_unknown_word_is_quoted(self, wrong: str) -> None:
        words: dict[str, Any] = {"operation": "triad", wrong: "nonsense"}
        with pytest.raises(RequestError, match="'nonsense'"):
            core.KernelSpec(**words)

    def test_sizes_no_machine_has_are_refused(self, team: core.Team) -> None:
        with pytest.raises(RequestError):
            core.StreamArrays(team, 1 << 60)
        with pytest.raises(RequestError):
            core.ChaseRing(team, 1 << 62)

    def test_counts_are_not_negative(self, team: core.Team) -> None:
        with pytest.raises(TypeError):
            core.StreamArrays(team, -1)

    def test_unknown_pages_and_nodes_are_refused(self, team: core.Team) -> None:
        with pytest.raises(RequestError, match="'3k'"):
            core.StreamArrays(team, 100_000, pages="3k")
        with pytest.raises(RequestError, match="node 9999"):
            core.ChaseRing(team, 1 << 16, memory=core.Memory([9999]))


class TestSlices:
    def test_every_thread_stamps_every_iteration(
        self, team: core.Team, arrays: core.StreamArrays
    ) -> None:
        piece = arrays.run(core.KernelSpec("copy"), blocks=2, iterations=5)
        assert [thread.cpu for thread in piece.threads] == team.cpus
        for thread in piece.threads:
            assert len(thread.begin_ns) == len(thread.end_ns) == 5
            stamps = [*zip(thread.begin_ns, thread.end_ns, strict=True)]
            assert all(begin <= end for begin, end in stamps)
            assert thread.begin_ns == sorted(thread.begin_ns)
        assert piece.pingpong_ns is None

    def test_stamps_are_on_the_clock_of_the_module(self, arrays: core.StreamArrays) -> None:
        before = core.clock_now_ns()
        threads = arrays.run(core.KernelSpec("copy")).threads
        after = core.clock_now_ns()
        assert all(before <= thread.begin_ns[0] <= after for thread in threads)

    def test_threads_outlive_their_slice(self, arrays: core.StreamArrays) -> None:
        first = arrays.run(core.KernelSpec("copy")).threads[0]
        assert len(first.begin_ns) == 1

    def test_one_thread_has_no_pingpong(self) -> None:
        assert core.Team(core.allowed_cpus()[:1]).pingpong_ns() is None

    def test_what_was_measured_cannot_be_set(self, arrays: core.StreamArrays) -> None:
        piece = arrays.run(core.KernelSpec("copy"))
        with pytest.raises(AttributeError):
            piece.threads[0].cpu = 3  # type: ignore[misc]

    def test_a_flipped_element_fails_validation(self, arrays: core.StreamArrays) -> None:
        arrays.run(core.KernelSpec("triad"), blocks=4)
        assert all(check.passed for check in arrays.validate())
        arrays.corrupt("b", 5)
        bad = [check for check in arrays.validate() if not check.passed]
        assert [(check.array, check.failed_elements, check.first_failed) for check in bad] == [
            ("b", 1, 5)
        ]

    def test_a_ring_is_one_cycle(self, ring: core.ChaseRing) -> None:
        assert ring.is_single_cycle()
        piece = ring.run(hops=ring.nodes, iterations=3)
        assert len(piece.threads[0].begin_ns) == 3


class TestClosing:
    def test_closed_arrays_say_so(self, arrays: core.StreamArrays) -> None:
        arrays.close()
        arrays.close()
        with pytest.raises(RuntimeError, match="StreamArrays is closed"):
            arrays.run(core.KernelSpec("copy"))
        with pytest.raises(RuntimeError, match="closed"):
            _ = arrays.elements

    def test_a_closed_ring_says_so(self, ring: core.ChaseRing) -> None:
        ring.close()
        with pytest.raises(RuntimeError, match="ChaseRing is closed"):
            ring.run(10)
        with pytest.raises(RuntimeError, match="closed"):
            _ = ring.nodes

    def test_arrays_keep_their_team(self) -> None:
        arrays = core.StreamArrays(core.Team(core.allowed_cpus()[:1]), 1000)
        assert len(arrays.run(core.KernelSpec("copy")).threads) == 1

    def test_closing_frees(self, team: core.Team) -> None:
        before = resident_bytes()
        arrays = core.StreamArrays(team, 4_000_000)
        assert resident_bytes() - before > 90_000_000
        arrays.close()
        assert resident_bytes() - before < 50_000_000

    def test_closing_during_a_call_waits_for_its_end(self, arrays: core.StreamArrays) -> None:
        entered = threading.Event()
        outcome: list[object] = []

        def work() -> None:
            entered.set()
            try:
                spec = core.KernelSpec("copy")
                outcome.append(arrays.run(spec, blocks=4, iterations=1000))
            except RuntimeError as error:
                outcome.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        entered.wait()
        arrays.close()
        thread.join()
        assert isinstance(outcome[0], core.Slice | RuntimeError)
        with pytest.raises(RuntimeError, match="closed"):
            arrays.validate()


class AlarmError(Exception):
    pass


@pytest.fixture
def alarm() -> Iterator[None]:
    def ring_out(*_: object) -> None:
        raise AlarmError

    previous = signal.signal(signal.SIGALRM, ring_out)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, previous)


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * core.base_page_bytes()


@pytest.mark.usefixtures("alarm")
class TestSignals:
    def test_a_handler_that_raises_ends_a_long_fill_and_frees(self, team: core.Team) -> None:
        before = resident_bytes()
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        with pytest.raises(AlarmError):
            core.StreamArrays(team, 32_000_000)
        assert resident_bytes() - before < 100_000_000

    def test_a_handler_that_raises_ends_the_making_of_a_ring(self, team: core.Team) -> None:
        before = resident_bytes()
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        with pytest.raises(AlarmError):
            core.ChaseRing(team, 512 << 20)
        assert resident_bytes() - before < 100_000_000

    def test_the_team_works_on_after_an_interruption(self, team: core.Team) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        with pytest.raises(AlarmError):
            core.StreamArrays(team, 32_000_000)
        arrays = core.StreamArrays(team, 1000)
        assert all(check.passed for check in arrays.validate())

    def test_a_handler_that_returns_lets_the_call_finish(self, team: core.Team) -> None:
        rung: list[int] = []
        signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        arrays = core.StreamArrays(team, 16_000_000)
        while not rung:
            time.sleep(0.01)
        assert arrays.elements >= 16_000_000
