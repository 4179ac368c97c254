"""What `traffic` may be asked for, and what has no meaning together."""

from __future__ import annotations

import pytest

pytest.importorskip("memgauge._core")

from memgauge import _core
from memgauge.experiments.traffic.parameters import TrafficOptions, TrafficParameters
from memgauge.model.errors import RequestError
from memgauge.model.parameters import build, fields_of, texts


def test_everything_asked_is_read_back_from_a_record() -> None:
    requested = build(
        TrafficParameters,
        kernel="s1cf-second",
        sizes="64:512,1024",
        grid="4x8",
        threads="1,3",
        store_prefetch=True,
        repetitions="study",
        machine="this,power9-5mb",
        counters="perf:cycles",
        simulate_up_to="2m",
    )
    kept = {name: value for name, value in texts(requested).items() if value is not None}
    assert kept["grid"] == "4x8"
    assert kept["machine"] == "this,power9-5mb"
    assert build(TrafficParameters, **kept) == requested


def test_native_values_are_as_good_as_text() -> None:
    native = build(
        TrafficParameters, grid=(4, 8), repetitions=7, sizes=[64, 128], machine=["power9-5mb"]
    )
    text = build(
        TrafficParameters, grid="4x8", repetitions="7", sizes="64,128", machine="power9-5mb"
    )
    assert native == text


def test_the_kernel_is_no_option_of_the_command() -> None:
    names = {field.name for field in fields_of(TrafficOptions)}
    assert "kernel" not in names
    assert names | {"kernel"} == {field.name for field in fields_of(TrafficParameters)}


@pytest.mark.parametrize(
    ("budget_s", "options", "share"),
    [
        (60, {"sizes": "64,128,256"}, 15),
        (60, {"sizes": "64,128", "threads": "1,3"}, 11.25),
        (64, {}, 3),
        (620, {}, 15),
        (64, {"sizes": "640:64000", "sweep": "fine"}, 48 / 31),
        (60, {"sizes": "64,128", "size_budget": "7s"}, 7),
    ],
)
def test_every_size_has_its_share_of_the_budget(
    budget_s: float, options: dict[str, object], share: float
) -> None:
    requested = build(TrafficParameters, **options).for_budget(budget_s)
    assert requested.size_budget_s == pytest.approx(share)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "gem"}, r"kernel 'gem' is unknown; did you mean gem[mv]\?"),
        ({"kernel": "s1cf-1st"}, r"did you mean s1cf-first\?"),
        ({"kernel": "zzz"}, r"'zzz' is unknown; choose from gemv, gemm"),
        ({"grid": "8"}, r"--grid '8' is not a grid of ranks; .* such as 2x4"),
        ({"grid": "0x4"}, r"--grid '0x4' is not a grid of ranks"),
        ({"cap": "0"}, r"--cap '0' is not a whole number from 1"),
        ({"repetitions": "many"}, r"'many' is neither auto, study nor a number"),
        ({"repetitions": "0"}, r"--repetitions '0' is not a whole number from 1"),
        ({"machine": "this,,x"}, r"--machine 'this,,x' names no machine"),
        ({"machine": "none,this"}, r"combines none with machines"),
        ({"simulate_up_to": "0s"}, r"--simulate-up-to '0s' is zero"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        build(TrafficParameters, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grid": "2x4"}, "--grid: is an option of the re-sorting routines, not of gemm; leave"),
        ({"cap": 64}, "--cap: is an option of gemv, not of gemm"),
        ({"kernel": "copy", "stride": 4}, "--stride: is an option of strided-copy, not of copy"),
        ({"batched": True, "threads": "2"}, "--batched, --threads: .*; omit one of them"),
        ({"simulate_only": True, "machine": "none"}, "--simulate-only: no machine"),
        ({"simulate_only": True, "counters": "auto"}, "--counters: nothing is run"),
    ],
)
def test_what_has_no_meaning_together_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        build(TrafficParameters, **options).check()


@pytest.mark.parametrize("kernel", _core.NEST_KINDS)
def test_every_kernel_can_be_asked_for_alone(kernel: str) -> None:
    build(TrafficParameters, kernel=kernel).check()
