from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.model.errors import RequestError
from memgauge.model.memory import MemoryPlacement
from memgauge.model.option import (
    choices_option,
    counts_option,
    shares_option,
    size_option,
    sizes_option,
    switch_option,
)
from memgauge.model.parameters import (
    PAGE_POLICIES,
    CommonParameters,
    Parameters,
    RunOptions,
    build,
    fields_of,
    texts,
)

KERNELS = ("copy", "scale", "triad")


class Example(CommonParameters, frozen=True, kw_only=True):
    kernel: Annotated[tuple[str, ...], choices_option("kernels to run", KERNELS)] = KERNELS
    array_bytes: Annotated[
        int | None, size_option("bytes of each array", automatic="by the STREAM rule")
    ] = None
    footprints: Annotated[tuple[int, ...], sizes_option("sizes to visit")] = (4096,)
    shares: Annotated[tuple[float, ...], shares_option("parts of a whole")] = (1.0, 0.5)
    repeats: Annotated[tuple[int, ...], counts_option("times to repeat", 1, 10)] = (3,)
    autotune: Annotated[bool, switch_option("search the best variant")] = False


def test_the_defaults_are_valid_and_read_back() -> None:
    assert build(Example, **texts(Example())) == Example()
    assert build(RunOptions, **texts(RunOptions())) == RunOptions()


def test_text_and_native_values_are_the_same() -> None:
    texts_ = build(
        Example,
        threads="1,2,4-6",
        cpus="0-1,8",
        memory="node:2",
        kernel="triad,copy",
        array_bytes="64MiB",
        footprints="4KiB,1MB",
        shares="75%,0,100%",
        repeats="5",
        autotune="true",
    )
    native = build(
        Example,
        threads=[1, 2, 4, 5, 6],
        cpus=(0, 1, 8),
        memory=MemoryPlacement("node", (2,)),
        kernel=["triad", "copy"],
        array_bytes=64 << 20,
        footprints=(4096, 10**6),
        shares=(0.75, 0, 1),
        repeats=(5,),
        autotune=True,
    )
    assert texts_ == native
    assert native.array_bytes == 64 << 20
    assert native.threads == (1, 2, 4, 5, 6)
    assert native.cpus == "0-1,8"


def test_one_number_is_a_list_of_one() -> None:
    assert build(Example, threads=4).threads == (4,)


def test_records_keep_the_text_form() -> None:
    kept = texts(build(Example, threads=[1, 2, 3, 8], array_bytes=64 << 20))
    assert kept["threads"] == "1-3,8"
    assert kept["array_bytes"] == "64MiB"
    assert kept["memory"] == "dram"
    assert kept["cpus"] == "scatter"


@given(
    st.lists(st.integers(1, 256), min_size=1, unique=True),
    st.one_of(st.none(), st.integers(1, 2**49)),
    st.lists(st.sampled_from(KERNELS), min_size=1, unique=True),
    st.one_of(
        st.just(MemoryPlacement()),
        st.builds(MemoryPlacement, st.just("node"), st.tuples(st.integers(0, 9))),
    ),
    st.sampled_from(PAGE_POLICIES),
    st.booleans(),
)
def test_any_parameters_read_back_from_their_text(  # noqa: PLR0917 - one per strategy
    threads: list[int],
    array_bytes: int | None,
    kernels: list[str],
    memory: MemoryPlacement,
    pages: str,
    autotune: bool,
) -> None:
    made = Example(
        threads=tuple(threads),
        array_bytes=array_bytes,
        kernel=tuple(kernels),
        memory=memory,
        pages=pages,
        autotune=autotune,
    )
    assert build(Example, **texts(made)) == made


@given(st.floats(0.001, 86400), st.floats(1e-6, 0.99))
def test_any_run_options_read_back_from_their_text(budget_s: float, precision: float) -> None:
    made = RunOptions(budget_s=budget_s, precision=precision)
    assert build(RunOptions, **texts(made)) == made


@pytest.mark.parametrize(
    ("keyword", "value", "message"),
    [
        ("threads", "1-1000000000", "not from 1 to 65536"),
        ("threads", 10**9, "not from 1 to 65536"),
        ("threads", 0, "holds 0"),
        ("threads", -1, "--threads '-1'"),
        ("threads", "8-1", "write 1-8"),
        ("threads", 2.5, "'2.5' is not a list"),
        ("threads", True, "'True' is not a list"),
        ("threads", [], "'' is not a list"),
        ("threads", "x", "'x' is not a list"),
        ("cpus", "fastest", "neither compact, scatter, cores nor a list"),
        ("cpus", "0-", "is not a list"),
        ("memory", "cxl", "choose from dram, node:N"),
        ("memory", "node", "write node:N"),
        ("memory", "node:", "write node:N"),
        ("memory", "node:-1", "--memory node '-1'"),
        ("memory", "node:1024", "from 0 to 1023"),
        ("memory", "dram:0", "write dram"),
        ("pages", "3m", "choose from auto, 4k, thp, 2m, 1g"),
        ("pages", None, "--pages has no value"),
        ("kernel", "triad,dot", "'dot' is not known; choose from copy, scale, triad"),
        ("array_bytes", "64MB!", "is not a size"),
        ("array_bytes", float("nan"), "is not a size"),
        ("array_bytes", True, "is not a size"),
        ("array_bytes", 1 << 50, "1 PiB"),
        ("autotune", "yes", "neither true nor false"),
        ("autotune", 1, "neither true nor false"),
        ("repeats", (11,), "from 1 to 10"),
        ("shares", "75%,101%", "--shares '101%' is more than 100%"),
        ("shares", [], "'' is not a share"),
        ("shares", (0.5, True), "'True' is not a share"),
        (
            "colour",
            "red",
            "not a parameter here; choose from threads, cpus, nodes",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(keyword: str, value: object, message: str) -> None:
    with pytest.raises(RequestError, match=re.escape(message)):
        build(Example, **{keyword: value})


def test_a_constructor_checks_as_build_does() -> None:
    with pytest.raises(RequestError, match="--array-bytes"):
        Example(array_bytes=-1)
    with pytest.raises(RequestError, match="--repeats"):
        Example().replace(repeats=(0,))


def test_flags_and_help_follow_the_declaration() -> None:
    fields = {field.name: field for field in fields_of(Example)}
    assert list(fields)[:5] == ["threads", "cpus", "nodes", "memory", "pages"]
    assert fields["array_bytes"].flag == "--array-bytes"
    assert fields["array_bytes"].default_text == "by the STREAM rule"
    assert fields["array_bytes"].option.metavar == "SIZE"
    assert fields["kernel"].option.repeatable
    assert fields["kernel"].option.choices == KERNELS
    assert fields["kernel"].default_text == "copy,scale,triad"
    assert fields["footprints"].option.repeatable
    assert fields["autotune"].option.is_switch


def test_run_options_are_asked_for_by_their_flags() -> None:
    options = build(RunOptions, budget="2m", precision="2%", output=Path("out"))
    assert (options.budget_s, options.precision, options.output) == (120.0, 0.02, "out")
    assert build(RunOptions, budget_s=90).budget_s == 90.0
    with pytest.raises(RequestError, match="--budget '0s' is zero"):
        build(RunOptions, budget=0)
    with pytest.raises(RequestError, match="--output '' is not a path"):
        build(RunOptions, output="")


def test_the_sweep_follows_the_budget_unless_it_was_asked_for() -> None:
    assert not CommonParameters().is_fine
    assert CommonParameters().for_budget(60.0).sweep == "coarse"
    assert CommonParameters().for_budget(300.0).is_fine
    assert build(CommonParameters, sweep="fine").for_budget(10.0).is_fine
    with pytest.raises(RequestError, match="--sweep 'wide' is not known; choose from coarse, fine"):
        build(CommonParameters, sweep="wide")


def test_a_declaration_without_an_option_is_a_defect() -> None:
    class Bare(Parameters, frozen=True, kw_only=True):
        size: int = 1

    class Open(Parameters, frozen=True, kw_only=True):
        size: Annotated[int, size_option("x")]

    with pytest.raises(TypeError, match=r"Bare\.size has no Option"):
        fields_of(Bare)
    with pytest.raises(TypeError, match=r"Open\.size has no default"):
        fields_of(Open)
