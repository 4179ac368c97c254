"""How sizes are read, written back and made numbers."""

from __future__ import annotations

import pytest

from memgauge.experiments.traffic.sizes import (
    FINE_STEPS,
    MOST_SIZES,
    STEPS,
    SizeRange,
    expand,
    parse_sizes,
    write_sizes,
)
from memgauge.model.errors import RequestError


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("64", [64]),
        ("64,128,400", [64, 128, 400]),
        ("400,64,64", [64, 400]),
        ("64:256:64", [64, 128, 192, 256]),
        ("64:200:64", [64, 128, 192]),
        ("1e3:3e3:1000", [1000, 2000, 3000]),
        ("1E6", [1_000_000]),
        ("5:5", [5]),
        (" 8 , 16:32:16 ", [8, 16, 32]),
    ],
)
def test_text_means_sizes(text: str, sizes: list[int]) -> None:
    assert expand(parse_sizes(text, "--sizes")) == sizes


@pytest.mark.parametrize("text", ["64:2048", "64:2048:64", "64,128:256", "467"])
def test_what_is_written_is_read_back(text: str) -> None:
    ranges = parse_sizes(text, "--sizes")
    assert write_sizes(ranges) == text
    assert parse_sizes(write_sizes(ranges), "--sizes") == ranges


def test_a_range_of_one_size_needs_no_step() -> None:
    assert parse_sizes("5:5:4", "--sizes") == parse_sizes("5", "--sizes")


@pytest.mark.parametrize("value", [(64, 128), [64, 128], range(64, 129, 64)])
def test_numbers_are_as_good_as_text(value: object) -> None:
    assert expand(parse_sizes(write_sizes(value), "--sizes")) == [64, 128]


@pytest.mark.parametrize("multiple", [1, 4, 8, 24])
@pytest.mark.parametrize(("first", "last"), [(48, 2400), (24, 96), (1200, 24_000_000)])
def test_a_range_without_a_step_has_one_ratio(first: int, last: int, multiple: int) -> None:
    sizes = expand((SizeRange(first, last),), multiple)
    assert sizes[0] == first
    assert sizes[-1] == last
    assert sizes == sorted(set(sizes))
    assert 2 <= len(sizes) <= STEPS
    assert all(size % multiple == 0 and size // multiple % 2 for size in sizes[1:-1])
    ratio = (last / first) ** (1 / (STEPS - 1))
    ideal = [first * ratio**step for step in range(STEPS)]
    assert all(min(abs(size - one) for one in ideal) <= multiple for size in sizes)


def test_a_fine_sweep_holds_the_sizes_of_a_coarse_one() -> None:
    requested = (SizeRange(640, 64_000),)
    coarse, fine = expand(requested, 8), expand(requested, 8, FINE_STEPS)
    assert set(coarse) < set(fine)
    assert len(fine) == FINE_STEPS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"--sizes '' holds '', which is not a whole number; write sizes such as 64:2048"),
        ("64,,128", r"holds '', which is not a whole number"),
        ("64:", r"holds '', which is not a whole number"),
        ("1.5", r"holds '1.5', which is not a whole number"),
        ("64k", r"holds '64k', which is not a whole number"),
        ("64-128", r"holds '64-128', which is not a whole number"),
        ("-64", r"holds a negative number"),
        ("0", r"holds 0, which is not from 1 to 2\^40"),
        ("64:128:0", r"holds 0, which is not from 1"),
        ("1e13", r"holds 1e13, which is not from 1"),
        ("128:64", r"holds the reversed range 128:64; write 64:128"),
        ("1:2:3:4", r"contains a range with too many parts"),
        ("2\u0664", r"which is not a whole number"),
    ],
)
def test_what_is_no_size_is_refused_in_a_line(text: str, message: str) -> None:
    with pytest.raises(RequestError, match=message) as error:
        parse_sizes(text, "--sizes")
    assert "\n" not in str(error.value)


def test_more_sizes_than_anyone_means_are_refused() -> None:
    with pytest.raises(RequestError, match="take a larger step"):
        expand(parse_sizes("1:1e9:1", "--sizes"))
    with pytest.raises(RequestError, match=f"more than {MOST_SIZES}"):
        expand(parse_sizes("1:900:1,1001:1900:1", "--sizes"))
