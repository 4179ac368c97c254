"""What may be asked of `tiers`, and what stands for what was left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from tests.unit.experiments.machines import a_machine

from memgauge.experiments.tiers.parameters import TiersParameters, cpu_order, splits, team_sizes
from memgauge.model.errors import NotPossibleHere, RequestError
from memgauge.model.parameters import build


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"b": "shm:", "preset": "nvm-nvm"}, "--b and --preset both specify what group B uses"),
        ({"b": "shm:", "nvm": "node:1"}, "--b and --nvm both specify"),
        ({"b": "shm:", "memory": "node:1"}, "--b and --memory both specify"),
        ({"nvm": "shm:", "memory": "node:1"}, "--nvm and --memory both name the second memory"),
        ({"a": "dram", "preset": "nvm-nvm"}, "--preset: group A is dram:dram in all of them"),
        ({"preset": "nvm"}, "--preset 'nvm' is not known; did you mean nvm-nvm. choose from nvm"),
        ({"nvm": "optane"}, "--nvm 'optane' is not a kind of memory"),
        ({"latency": "true", "fixed_iterations": "5"}, "--latency: all threads work until"),
        ({"fixed_iterations": "0"}, "--fixed-iterations '0' is not a whole number from 1"),
        ({"delay_b": "100"}, "mixes make pauses, kernels do not; give --read-share"),
        ({"delay_a": "1", "read_share": "50%", "kernel": "copy"}, "and no --kernel"),
        ({"access": "translated", "variant": "tuned"}, "a tuned kernel translates no addresses"),
        ({"access": "translated", "read_share": "50%"}, "a mix translates no addresses"),
        ({"access": "translated", "store": "non-temporal"}, "a plain loop has no such stores"),
        ({"variant": "standard", "store": "non-temporal"}, "a plain loop has no such stores"),
        ({"read_share": "50%", "store": "flushed"}, "mixes have no such stores"),
        (
            {"read_share": "50%", "element": "float"},
            "--element float: mixes move doubles only, kernels also other types; leave --element",
        ),
        ({"kernel": "sum"}, "--kernel 'sum' is not known"),
        ({"split": "-1"}, "--split '-1' holds a negative number"),
        ({"delay_b": "1000000", "read_share": "1"}, "not from 0 to 10000"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(given: dict[str, str], message: str) -> None:
    with pytest.raises(RequestError, match=message) as refused:
        build(TiersParameters, **given)
    assert "\n" not in str(refused.value)


def test_copy_is_run_unless_mixes_are() -> None:
    assert TiersParameters().kernels == ("copy",)
    assert build(TiersParameters, read_share="50%").kernels == ()
    assert build(TiersParameters, read_share="50%", kernel="triad").kernels == ("triad",)


def test_the_plain_loop_runs_where_addresses_are_translated_and_beside() -> None:
    assert TiersParameters().loop == "tuned"
    assert build(TiersParameters, access="direct,translated").loop == "standard"
    assert build(TiersParameters, variant="standard").loop == "standard"


def test_all_cpus_work_unless_said() -> None:
    assert team_sizes(TiersParameters(), a_machine(8)) == (8,)
    assert team_sizes(TiersParameters(cpus="0-3"), a_machine(8)) == (4,)
    assert team_sizes(build(TiersParameters, threads="8,2"), a_machine(8)) == (2, 8)
    with pytest.raises(
        RequestError, match=r"--threads 9: 9 threads need one CPU each, but only 8 can be used"
    ):
        team_sizes(build(TiersParameters, threads="9"), a_machine(8))


def test_a_probe_takes_a_cpu_of_its_own() -> None:
    probed = TiersParameters(latency=True)
    assert team_sizes(probed, a_machine(8)) == (7,)
    with pytest.raises(RequestError, match=r"--threads 8: 8 threads and the probe of --latency"):
        team_sizes(build(TiersParameters, threads="8", latency="true"), a_machine(8))
    with pytest.raises(NotPossibleHere, match="--latency needs one for the probe"):
        team_sizes(probed, a_machine(1))


@pytest.mark.parametrize("policy", ["scatter", "compact"])
def test_siblings_of_the_probe_come_last(policy: str) -> None:
    system = a_machine(4, threads_per_core=2)
    core_of = {one.cpu: one.core for one in system.cpus}
    order = cpu_order(TiersParameters(latency=True, cpus=policy), system)
    assert sorted(order) == system.allowed_cpus
    assert core_of[order[0]] == core_of[order[-1]]
    assert core_of[order[0]] not in {core_of[cpu] for cpu in order[1:-1]}
    listed = cpu_order(TiersParameters(latency=True, cpus="0,4,1"), system)
    assert listed == [0, 4, 1]


@given(st.integers(1, 600), st.sampled_from(["coarse", "fine"]))
def test_default_splits_are_all_or_a_sensible_few(threads: int, sweep: str) -> None:
    found = splits(TiersParameters(sweep=sweep), threads)
    assert list(found) == sorted(set(found))
    wanted = {0, 1, min(2, threads), threads - 1, threads}
    wanted |= {threads * part // 4 for part in range(5)}
    assert wanted <= set(found) <= set(range(threads + 1))
    assert found == tuple(range(threads + 1)) or len(found) <= 12
    if threads <= 16:
        assert len(found) == threads + 1


def test_splits_asked_for_are_taken_where_they_fit() -> None:
    requested = build(TiersParameters, split="0,3,5", threads="4,8")
    assert splits(requested, 4) == (0, 3)
    assert splits(requested, 8) == (0, 3, 5)


@pytest.mark.parametrize(("split", "threads"), [("5", "4"), ("0-5", "4"), ("4", "2,8")])
def test_more_threads_in_b_than_there_are_is_refused(split: str, threads: str) -> None:
    requested = build(TiersParameters, split=split, threads=threads)
    least = min(requested.threads or ())
    with pytest.raises(
        RequestError, match=rf"of {least} threads from 0 to {least} can be in group"
    ):
        splits(requested, least)
