import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.model.errors import RequestError
from memgauge.model.text import plain
from memgauge.model.units import (
    PIB,
    bytes_text,
    counts_text,
    format_bytes,
    format_count,
    format_duration,
    format_long,
    parse_age,
    parse_bytes,
    parse_count,
    parse_counts,
    parse_duration,
    parse_share,
    parse_whole_share,
)

WRONG_NUMBERS = [
    "",
    " ",
    "nan",
    "inf",
    "-inf",
    "-1",
    "0",
    "0.0",
    "1_000",
    "0x10",
    "\uff11\uff12",
    "1e",
    "+1",
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1),
        ("64MiB", 64 * 2**20),
        ("64 MiB", 64 * 2**20),
        ("1.5e9", 1_500_000_000),
        ("1.5GB", 1_500_000_000),
        ("4kB", 4000),
        ("4KB", 4000),
        ("4KiB", 4096),
        ("0.5KiB", 512),
        ("2TiB", 2 * 2**40),
        ("1023.9990234375TiB", 1023 * 2**40 + 1023 * 2**30),
        ("8B", 8),
    ],
)
def test_sizes_mean_what_their_units_say(text: str, expected: int) -> None:
    assert parse_bytes(text, "--size") == expected


@pytest.mark.parametrize(
    "text",
    [*WRONG_NUMBERS, "64MB!", "4k", "4K", "4M", "4Mb", "4mib", "1PiB", "2PB", "1e999", "1.5"],
)
def test_what_is_no_size_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(RequestError) as error:
        parse_bytes(text, "--array-bytes")
    message = str(error.value)
    assert message.startswith(f"--array-bytes '{text}' ")
    assert "such as 64MiB" in message
    assert "\n" not in message


def test_the_message_names_what_why_and_the_next_step() -> None:
    with pytest.raises(RequestError) as error:
        parse_bytes("64MB!", "--array-bytes")
    assert str(error.value) == (
        "--array-bytes '64MB!' is not a size; "
        "write a number with B, kB, MB, GB, KiB, MiB or GiB, such as 64MiB"
    )


def test_a_message_cannot_steer_the_terminal() -> None:
    with pytest.raises(RequestError) as error:
        parse_bytes("\x1b[2J\u202e" + "9" * 1000, "--size")
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    ("text", "expected"),
    [("60s", 60.0), ("60", 60.0), ("10m", 600.0), ("1.5min", 90.0), ("1h", 3600.0), ("500ms", 0.5)],
)
def test_times_are_in_seconds(text: str, expected: float) -> None:
    assert parse_duration(text, "--budget") == expected


@pytest.mark.parametrize("text", [*WRONG_NUMBERS, "1d", "1S", "1e-20", "31e5", "1e999", "1h30m"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="--budget"):
        parse_duration(text, "--budget")


@pytest.mark.parametrize(
    ("text", "days"), [("14d", 14.0), ("14", 14.0), ("2w", 14.0), ("36h", 1.5), ("0.5d", 0.5)]
)
def test_ages_are_in_days_unless_they_say_otherwise(text: str, days: float) -> None:
    assert parse_age(text, "--since") == 86_400 * days


@pytest.mark.parametrize("text", [*WRONG_NUMBERS, "14s", "1m", "2 weeks", "40000d"])
def test_what_is_no_age_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="--since"):
        parse_age(text, "--since")


def test_shares() -> None:
    assert parse_share("1%", "--precision") == 0.01
    assert parse_share("0.01", "--precision") == 0.01


@pytest.mark.parametrize("text", [*WRONG_NUMBERS, "1", "100%", "5", "1e-99", "%", "1%%"])
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="--precision"):
        parse_share(text, "--precision")


@pytest.mark.parametrize(
    ("text", "share"), [("0", 0.0), ("0%", 0.0), ("75%", 0.75), ("0.75", 0.75), ("100%", 1.0)]
)
def test_shares_of_a_whole_include_none_and_all(text: str, share: float) -> None:
    assert parse_whole_share(text, "--read-share") == share


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("101%", "more than 100%"),
        ("50", "more than 100%"),
        ("-1%", "is negative"),
        ("half", "is not a share"),
        ("", "is not a share"),
    ],
)
def test_what_is_no_share_of_a_whole_is_refused(text: str, why: str) -> None:
    with pytest.raises(RequestError, match=why):
        parse_whole_share(text, "--read-share")


def test_counts_keep_their_order_and_lose_repetitions() -> None:
    assert parse_counts("8, 1-3,2", "--threads", 1, 99) == (8, 1, 2, 3)


@pytest.mark.parametrize(
    "text",
    ["", ",", "1,", "0", "-1", "1-", "3-1", "1-2-3", "a", "1.5", "1000000000", "1-1000000000"],
)
def test_what_is_no_list_of_counts_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="--threads"):
        parse_counts(text, "--threads", 1, 65_536)


def test_a_reversed_range_is_shown_the_right_way_round() -> None:
    with pytest.raises(RequestError, match="write 1-8"):
        parse_counts("8-1", "--threads", 1, 99)


def test_a_count_outside_its_limits_is_refused() -> None:
    assert parse_count("7", "--node", 0, 7) == 7
    with pytest.raises(RequestError, match="from 0 to 7"):
        parse_count("8", "--node", 0, 7)


@given(st.integers(1, PIB - 1))
def test_the_text_of_a_size_reads_back_exactly(count: int) -> None:
    assert parse_bytes(bytes_text(count), "--size") == count


@given(st.lists(st.integers(1, 1000), min_size=1, unique=True))
def test_the_text_of_a_list_reads_back_exactly(counts: list[int]) -> None:
    assert parse_counts(counts_text(tuple(counts)), "--threads", 1, 1000) == tuple(counts)


@given(st.integers(1, PIB // 2))
def test_a_size_is_shown_within_half_a_percent(count: int) -> None:
    shown = parse_bytes(format_bytes(count), "--size")
    assert abs(shown - count) <= 0.005 * count


@given(st.integers(0, 41), st.integers(1, 1000))
def test_a_size_shown_in_binary_units_is_exact(power: int, factor: int) -> None:
    count = factor << power
    shown = format_bytes(count)
    if "i" in shown and count < PIB:
        assert parse_bytes(shown, "--size") == count


@given(st.text())
def test_any_text_is_a_size_or_a_refusal(text: str) -> None:
    try:
        size = parse_bytes(text, "--size")
    except RequestError as error:
        size, message = 1, str(error)
        assert plain(message) == message
    assert 0 < size < PIB


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (4096, "4 KiB"),
        (1536 * 1024, "1.5 MiB"),
        (33 << 20, "33 MiB"),
        (4 << 30, "4 GiB"),
        (10_000_000, "10.0 MB"),
        (999_999_999, "1.00 GB"),
    ],
)
def test_sizes_as_shown(count: int, shown: str) -> None:
    assert format_bytes(count) == shown


def test_numbers_of_things_as_shown() -> None:
    assert [format_count(n, "thread") for n in (0, 1, 2)] == ["0 threads", "1 thread", "2 threads"]


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (12.3e-9, "12.3 ns"),
        (0.35, "350 ms"),
        (0.9999, "1.00 s"),
        (4.2, "4.20 s"),
        (59.7, "1 min 00 s"),
        (65, "1 min 05 s"),
        (7380, "2 h 03 min"),
    ],
)
def test_times_as_shown(seconds: float, shown: str) -> None:
    assert format_duration(seconds) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(30.0, "30.0 s"), (7200.0, "2 h 00 min"), (864_000.0, "10 days"), (1e9, "32 years")],
)
def test_times_of_days_and_years_are_told_so(seconds: float, shown: str) -> None:
    assert format_long(seconds) == shown


def test_a_list_is_not_longer_than_any_that_means_something() -> None:
    """Each of 3,000 ranges of 65,536 numbers takes 8 characters."""
    most = ",".join(["1-65536"] * 2)
    assert len(parse_counts(most, "--threads", 1, 65_536)) == 65_536
    with pytest.raises(RequestError, match="lists more than 131072 numbers; name each once"):
        parse_counts(",".join(["1-65536"] * 3000), "--threads", 1, 65_536)
