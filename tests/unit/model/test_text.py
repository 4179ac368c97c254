import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.model.text import bounded, did_you_mean, few, plain, quoted, shortened


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("AMD EPYC 9B14", "AMD EPYC 9B14"),
        ("naïve 測定 µs", "naïve 測定 µs"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b2Jgone", "gone"),
        ("a\nb\tc", "a b c"),
        ("abc\u202egnp.exe\u2066", "abcgnp.exe"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("bell\x07back\x08", "bellback"),
        ("lone \ud800 half", "lone  half"),
    ],
)
def test_only_what_can_be_read_is_left(text: str, shown: str) -> None:
    assert plain(text) == shown


@given(st.text())
def test_nothing_that_steers_a_terminal_is_left(text: str) -> None:
    assert not any(unicodedata.category(char).startswith("C") for char in plain(text))
    assert plain(plain(text)) == plain(text)


def test_a_quotation_is_short() -> None:
    assert quoted("x" * 1000) == "'" + "x" * 57 + "...'"


def test_a_few_names_stand_for_many() -> None:
    assert few(["a", "b"], 2) == "a, b"
    assert few(["a", "b", "c", "d"], 2) == "a, b and 2 more"


def test_the_nearest_name_is_suggested_where_one_is_near() -> None:
    assert did_you_mean("gemmm", ["gemv", "gemm"]) == "did you mean gemm?"
    assert did_you_mean("gemmm", ["gemv", "gemm"], most=2) == "did you mean gemm or gemv?"
    assert not did_you_mean("zzz", ["gemv", "gemm"])


def test_a_long_text_is_looked_at_no_further_than_it_is_shown() -> None:
    assert shortened("x" * 10) == "x" * 10
    assert shortened("\x1b[31m" * 10_000_000) == "..."
    assert shortened("ab" * 10_000_000, 8) == "ababa..."


def test_a_bounded_text_says_how_much_it_lacks() -> None:
    assert bounded("x" * 10, 10) == "x" * 10
    assert bounded("x" * 5010, 10) == "x" * 10 + "... (5,000 more characters are left out)"
