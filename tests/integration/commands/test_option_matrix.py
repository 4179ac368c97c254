"""Every experiment with every value of its options, and pairs of values of two options.

Each combination must give figures, or be refused for one of the documented reasons. Here run those
that single values need, and a sample of the others, which `MEMGAUGE_OPTION_MATRIX_SEED` chooses;
`make option-matrix` runs all.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.command import run_module
from tests.option_matrix.options import names
from tests.option_matrix.pairs import Row, covering, enough_for_each_value, pairs_in, pairs_of
from tests.option_matrix.refusals import is_allowed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.gpu_stand_in import GpuStandIn

ROOT = Path(__file__).parents[3]
SHARE = os.environ.get("MEMGAUGE_OPTION_MATRIX", "1")
"""Combinations of an experiment beside those that single values need; `all` for all."""
SEED = os.environ.get("MEMGAUGE_OPTION_MATRIX_SEED", "1")
"""Of that choice: fixed, so that what a test finds does not depend on the day."""
ANNOUNCEMENTS = ("memgauge: measuring takes at most ", "memgauge: simulating ")
"""Of how long `traffic` is going to take, before it may be refused."""
LIMIT_S = 600 if SHARE != "all" else 86_400


def results_of(
    name: str, *more: str, environment: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """What became of each combination; they share a process, which a crash would end."""
    words = [name, "--share", SHARE, "--seed", SEED, *more]
    done = run_module(
        "tests.option_matrix", words, cwd=ROOT, environment=environment, limit_s=LIMIT_S
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    last = lines[-1].get("words") if lines else None
    assert done.returncode == 0, f"ended by {done.returncode} after {last}: {done.stderr}"
    return lines[1:]


def per_experiment(*, gpu: bool) -> list[object]:
    """A test for each, which workers share by experiment."""
    return [
        pytest.param(name, marks=pytest.mark.xdist_group(f"options {name} {gpu}"))
        for name in names(gpu=gpu)
    ]


def require_figures_or_refusals(results: list[dict[str, Any]]) -> None:
    assert results
    faults = [fault for result in results if (fault := fault_of(result)) is not None]
    assert not faults, "\n\n".join(faults)


def fault_of(result: dict[str, Any]) -> str | None:
    """What is wrong with what became of a combination."""
    command = "memgauge " + " ".join(result["words"])
    if "refused" in result:
        return None if is_allowed(result["refused"]) else f"{command}: {result['refused']}"
    if result["code"] == 0:
        return None if result["figures"] else f"{command}: no figures: {result['said']}"
    said = [line for line in result["said"].splitlines() if line.startswith("memgauge: ")]
    errors = [line for line in said if not line.startswith(ANNOUNCEMENTS)]
    refused = result["code"] == 2 and len(errors) == 1 and "Traceback" not in result["said"]
    if refused and is_allowed(errors[0].removeprefix("memgauge: ")):
        return None
    return f"{command}: exit code {result['code']}: {result['said']}"


@pytest.mark.long
@pytest.mark.native
@pytest.mark.parametrize("name", per_experiment(gpu=False))
def test_every_combination_gives_figures_or_is_refused_for_a_known_reason(name: str) -> None:
    require_figures_or_refusals(results_of(name))


@pytest.mark.long
@pytest.mark.native
@pytest.mark.parametrize("name", per_experiment(gpu=True))
def test_so_does_every_combination_on_a_gpu(name: str, gpu_stand_in: GpuStandIn) -> None:
    environment = gpu_stand_in.environment(devices=2, memory=1 << 26)
    require_figures_or_refusals(results_of(name, "--gpu", environment=environment))


FACTORS = {"--a": ("0", "1", "2"), "--b": ("x", "y"), "--c": (None, ""), "--d": ("p", "q", "r")}


def test_every_pair_that_is_not_refused_is_in_a_combination() -> None:
    def refusal(row: Row) -> str | None:
        return "--a 2 needs --b y" if row["--a"] == "2" and row["--b"] == "x" else None

    found = covering(FACTORS, refusal, random.Random(1))
    covered = {pair for row in found.rows for pair in pairs_in(row)}
    impossible = (("--a", "2"), ("--b", "x"))
    assert covered == set(pairs_of(FACTORS)) - {impossible}
    assert [one.settings for one in found.refused] == [impossible]
    assert list(found.reasons) == ["--a 2 needs --b y"]
    assert len(found.rows) <= 15, "few more than the nine of the two longest options"
    assert not any(refusal(row) for row in found.rows)


@pytest.mark.parametrize("more", [0, 2])
def test_a_sample_has_every_value_and_is_found_without_all_pairs(more: int) -> None:
    whole = covering(FACTORS, lambda _: None, random.Random(1)).rows
    rows = covering(FACTORS, lambda _: None, random.Random(1), more).rows
    assert {setting for row in rows for setting in row.items()} == {
        setting for row in whole for setting in row.items()
    }
    assert len(enough_for_each_value(rows)) + more <= len(rows) < len(whole)


def test_a_value_that_is_always_refused_is_told_once_and_in_no_combination() -> None:
    found = covering(
        FACTORS, lambda row: "no r here" if row["--d"] == "r" else None, random.Random(1)
    )
    assert [(one.settings, one.why) for one in found.refused] == [((("--d", "r"),), "no r here")]
    assert all(row["--d"] != "r" for row in found.rows)


def test_single_values_need_few_combinations() -> None:
    rows = covering(FACTORS, lambda _: None, random.Random(1)).rows
    few = enough_for_each_value(rows)
    assert {setting for row in few for setting in row.items()} == {
        setting for row in rows for setting in row.items()
    }
    assert len(few) <= 5


@pytest.mark.parametrize(
    ("result", "is_fault"),
    [
        ({"code": 0, "figures": 3, "said": ""}, False),
        ({"code": 0, "figures": 0, "said": ""}, True),
        ({"code": 1, "figures": 0, "said": "memgauge: no space left"}, True),
        ({"code": None, "figures": 0, "said": "Traceback (most recent call last):"}, True),
        ({"code": 2, "figures": 0, "said": "memgauge: no such kernel: write (double)"}, True),
        ({"refused": "no such kernel: write (double)"}, True),
        (
            {
                "code": 2,
                "figures": 0,
                "said": "memgauge: measuring takes at most 3 s\n"
                "memgauge: tiers: this machine has one tier of memory, its DRAM\n",
            },
            False,
        ),
        ({"refused": "--threads: latency is measured by one; omit --threads"}, False),
    ],
)
def test_what_is_a_fault(result: dict[str, Any], is_fault: bool) -> None:
    assert (fault_of({"words": ["stream"]} | result) is not None) == is_fault
