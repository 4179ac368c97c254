import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.model.cpulist import LARGEST_CPU, format_cpu_list, parse_cpu_list

numbers = st.lists(st.integers(0, LARGEST_CPU), unique=True, max_size=50)
close_numbers = st.lists(st.integers(0, 30), unique=True)


@given(numbers | close_numbers)
def test_what_is_written_is_read_back_in_its_order(listed: list[int]) -> None:
    assert parse_cpu_list(format_cpu_list(listed)) == listed


@given(close_numbers)
def test_the_text_is_the_shortest(listed: list[int]) -> None:
    parts = [part.split("-") for part in format_cpu_list(listed).split(",") if part]
    ends = [(int(part[0]), int(part[-1])) for part in parts]
    assert all(later[0] != earlier[1] + 1 for earlier, later in itertools.pairwise(ends))


@given(st.text(max_size=30) | st.from_regex(r"[0-9,\- ]{0,20}", fullmatch=True))
def test_any_text_is_a_list_of_distinct_numbers_or_an_error(text: str) -> None:
    try:
        listed = parse_cpu_list(text)
    except ValueError:
        return
    assert len(set(listed)) == len(listed)
    assert set(listed) <= set(range(LARGEST_CPU + 1))


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("0-3,8\n", [0, 1, 2, 3, 8]),
        ("", []),
        ("\n", []),
        (" 5 ", [5]),
        ("8,0-1", [8, 0, 1]),
        ("007", [7]),
        ("1 - 2, 4", [1, 2, 4]),
    ],
)
def test_lists(text: str, listed: list[int]) -> None:
    assert parse_cpu_list(text) == listed


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("3-1", "descending range"),
        ("1,1", "names 1 twice"),
        ("0-4,2", "names 2 twice"),
        ("-1", "neither a number nor a range"),
        ("1-", "neither a number nor a range"),
        ("1,,2", "neither a number nor a range"),
        ("1-2-3", "neither a number nor a range"),
        ("0x3", "neither a number nor a range"),
        ("\u0663", "neither a number nor a range"),
        ("0-999999999999", f"above {LARGEST_CPU}"),
        ("9" * 5000, f"above {LARGEST_CPU}"),
        (f"0-{LARGEST_CPU},0-{LARGEST_CPU}", "more CPUs than any machine has"),
    ],
)
def test_errors_say_why(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        parse_cpu_list(text)
