"""Memory policies are inherited by programs that are started meanwhile, and put back."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from memgauge.model.errors import SystemFailure
from memgauge.system.detect import detect
from memgauge.system.memory import policy
from memgauge.system.memory.policy import MemoryPolicy, Mode, inherited, refusal
from memgauge.system.topology.memory_nodes import nodes_with_memory

NUMA_MAPS = Path("/proc/thread-self/numa_maps")

permitted = pytest.mark.skipif(
    refusal() is not None or not NUMA_MAPS.exists(), reason="memory policies are not permitted"
)


def of_child() -> set[str]:
    """Policies of the mappings of a program, as the kernel shows them."""
    done = subprocess.run(
        ["cat", "/proc/self/numa_maps"], capture_output=True, text=True, check=True
    )
    return {line.split()[1] for line in done.stdout.splitlines()}


@permitted
@pytest.mark.parametrize("mode", ["bind", "interleave", "preferred"])
def test_a_program_inherits_it_and_the_next_one_does_not(mode: Mode) -> None:
    node = nodes_with_memory(detect())[0]
    usual = of_child()
    with inherited(MemoryPolicy(mode=mode, nodes=[node])):
        during = of_child()
    assert any(one.startswith((f"{mode}:{node}", "prefer:")) for one in during)
    assert of_child() == usual
    with inherited(None):
        assert of_child() == usual


@permitted
def test_it_is_put_back_after_an_error_and_may_be_nested() -> None:
    node = nodes_with_memory(detect())[0]
    usual = of_child()
    with inherited(MemoryPolicy(mode="interleave", nodes=[node])):
        outer = of_child()
        with (
            pytest.raises(KeyboardInterrupt),
            inherited(MemoryPolicy(mode="bind", nodes=[node])),
        ):
            raise KeyboardInterrupt
        assert of_child() == outer
    assert of_child() == usual


@permitted
def test_a_node_that_is_not_there_is_refused() -> None:
    usual = of_child()
    with (
        pytest.raises(SystemFailure, match=r"policy bind on nodes 1000 cannot be set: .*Invalid"),
        inherited(MemoryPolicy(mode="bind", nodes=[1000])),
    ):
        pytest.fail("was set")
    assert of_child() == usual


def test_where_the_calls_are_not_known_there_are_no_policies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(machine="sparc64"))
    assert (refusal() or "").startswith("memory policies are not permitted here")


def test_a_mask_has_a_bit_for_each_node() -> None:
    words = policy._mask([0, 63, 64, 1023])
    assert words[:2] == (1 | 1 << 63, 1)
    assert words[15] == 1 << 63
    assert len(words) == 16
