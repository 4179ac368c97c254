"""Which figures of nodes are set beside each other."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from memgauge.analysis.cluster.keys import key_figures, label_of


def judged(*names: str) -> Any:
    return SimpleNamespace(spreads={(name, ""): SimpleNamespace(nodes=2) for name in names})


def stream(kernel: str, variant: str, team: str) -> str:
    return f"stream/{kernel}/{variant}/double/{team}"


def test_the_largest_team_and_one_thread_are_shown_tuned() -> None:
    names = [
        stream(kernel, variant, team)
        for kernel in ("copy", "triad", "add")
        for variant in ("standard", "tuned")
        for team in ("1t", "2t", "8t")
    ]
    assert [name for name, _ in key_figures(judged(*names))] == [
        stream("triad", "tuned", "8t"),
        stream("copy", "tuned", "8t"),
        stream("triad", "tuned", "1t"),
        stream("copy", "tuned", "1t"),
    ]


def test_a_gpus_bandwidth_is_a_key_figure_too() -> None:
    names = [stream("triad", "standard", "cuda:0"), stream("copy", "tuned", "cuda:0")]
    found = key_figures(judged(*names, stream("add", "tuned", "cuda:0")))
    assert [name for name, _ in found] == names


@pytest.mark.parametrize(
    ("name", "regime", "label"),
    [
        (stream("triad", "tuned", "2t"), "", "triad tuned 2t"),
        (stream("triad", "tuned", "cuda:1"), "", "triad tuned cuda:1"),
        ("latency/DRAM/random", "one regime", "latency DRAM random"),
        (stream("copy", "tuned", "2t"), "across complexes", "copy tuned 2t, across complexes"),
    ],
)
def test_names_are_short(name: str, regime: str, label: str) -> None:
    assert label_of((name, regime)) == label
