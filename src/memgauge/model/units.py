"""Sizes, times and shares: parsed strictly, and shown in the units of the field.

kB, MB, GB, TB are powers of 1000; KiB, MiB, GiB, TiB powers of 1024; a bare number is in the base
unit. Prefixes without a B (`4k`, `64M`) are refused, since tools differ on what they mean. Every
parser takes the name of the option it reads for, and raises RequestError.
"""

import re
from fractions import Fraction

from memgauge.model.arguments import MOST_LISTED
from memgauge.model.errors import RequestError
from memgauge.model.text import quoted

KIB, MIB, GIB, TIB, PIB = (1 << shift for shift in (10, 20, 30, 40, 50))

_BYTE_UNITS = {
    "B": 1,
    "kB": 10**3,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "PB": 10**15,
    "KiB": KIB,
    "MiB": MIB,
    "GiB": GIB,
    "TiB": TIB,
    "PiB": PIB,
}
_SECOND_UNITS = {
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "min": Fraction(60),
    "h": Fraction(3600),
}
_LONGEST_S = 30 * 24 * 3600
_NUMBER = re.compile(
    r"([0-9]{1,30}(?:\.[0-9]{0,30})?(?:[eE][+-]?[0-9]{1,3})?)[ ]?([A-Za-z%]*)", re.ASCII
)
_NEGATIVE = re.compile(r"-[0-9.]")


def parse_bytes(text: str, option: str) -> int:
    """Bytes of a size such as `64MiB`, `1.5e9` or `4 KiB`; at least 1, below 1 PiB."""
    example = "write a number with B, kB, MB, GB, KiB, MiB or GiB, such as 64MiB"
    value = _quantity(text, option, "a size", _BYTE_UNITS, example)
    if value >= PIB:
        raise RequestError(
            f"{option} {quoted(text)} is 1 PiB or more, beyond any machine's memory; {example}"
        )
    if value.denominator != 1:
        raise RequestError(
            f"{option} {quoted(text)} is not a whole number of bytes; write one, such as 64MiB"
        )
    return int(value)


def parse_duration(text: str, option: str) -> float:
    """Seconds of a time such as `60s`, `10m`, `1h`, `500ms` or `60`; above 0, at most 30 days."""
    example = "write a number with ms, s, m or h, such as 60s"
    value = _quantity(text, option, "a time", _SECOND_UNITS, example)
    if value > _LONGEST_S:
        raise RequestError(f"{option} {quoted(text)} is longer than 30 days; {example}")
    return _nonzero_float(value, text, option)


_AGE_UNITS = {
    "": Fraction(86_400),
    "h": Fraction(3600),
    "d": Fraction(86_400),
    "w": Fraction(7 * 86_400),
}
_LONGEST_AGE_S = 100 * 365.25 * 86_400


def parse_age(text: str, option: str) -> float:
    """Seconds of a time between runs such as `14d`, `2w`, `36h` or `14`; at most 100 years."""
    example = "write a number with h, d or w, such as 14d"
    value = _quantity(text, option, "a time", _AGE_UNITS, example)
    if value > _LONGEST_AGE_S:
        raise RequestError(f"{option} {quoted(text)} is longer than 100 years; {example}")
    return _nonzero_float(value, text, option)


_BANDWIDTH = re.compile(
    r"([0-9]{1,9}(?:\.[0-9]{0,15})?(?:[eE][+-]?[0-9]{1,2})?) ?(MB|GB|TB)/s", re.ASCII
)
_BANDWIDTH_UNITS = {"MB": 1e6, "GB": 1e9, "TB": 1e12}


def parse_bandwidth(text: str, option: str) -> float:
    """Bytes a second of a rate such as `76.8GB/s`; raises RequestError.

    Args:
        text: A number above 0 with MB/s, GB/s or TB/s, which are powers of 1000.
        option: What error messages call it.
    """
    found = _BANDWIDTH.fullmatch(text.strip())
    if found is None or float(found[1]) <= 0:
        raise RequestError(f"{option} {quoted(text)} is no rate; write one such as 76.8GB/s")
    return float(found[1]) * _BANDWIDTH_UNITS[found[2]]


def parse_share(text: str, option: str) -> float:
    """A share such as `1%` or `0.01`; above 0 and below 1."""
    units = {"": Fraction(1), "%": Fraction(1, 100)}
    example = "write a share between 0 and 1, such as 1% or 0.01"
    value = _quantity(text, option, "a share", units, example)
    if value >= 1:
        raise RequestError(f"{option} {quoted(text)} is 100% or more; {example}")
    return _nonzero_float(value, text, option)


def parse_whole_share(text: str, option: str) -> float:
    """A share such as `75%` or `0.75`; 0 and 1 are allowed."""
    units = {"": Fraction(1), "%": Fraction(1, 100)}
    example = "write a share from 0% to 100%, such as 75% or 0.75"
    value = _amount(text, option, "a share", units, example)
    if value > 1:
        raise RequestError(f"{option} {quoted(text)} is more than 100%; {example}")
    return float(value)


def parse_count(text: str, option: str, low: int, high: int) -> int:
    """A whole number from low to high.

    Args:
        text: Decimal digits only, without sign or white space.
        option: What error messages call the text, such as `--size`.
        low: Smallest accepted number.
        high: Largest accepted number.

    Raises:
        RequestError: the text is no such number.
    """
    if not re.fullmatch(r"[0-9]{1,20}", text, re.ASCII) or not low <= int(text) <= high:
        raise RequestError(
            f"{option} {quoted(text)} is not a whole number from {low} to {high}; write one, "
            f"such as {low}"
        )
    return int(text)


def parse_counts(text: str, option: str, low: int, high: int) -> tuple[int, ...]:
    """The whole numbers of a list such as `1,2,4-8`, each once, in the order written.

    Args:
        text: Numbers and rising ranges, separated by commas.
        option: What error messages call the text, such as `--threads`.
        low: Smallest accepted number.
        high: Largest accepted number.

    Raises:
        RequestError: the text is no such list, or lists too many numbers.
    """
    found: dict[int, None] = {}
    listed = 0
    for part in text.split(","):
        if _NEGATIVE.match(part.strip()):
            raise RequestError(
                f"{option} {quoted(text)} holds a negative number; "
                f"write whole numbers from {low} to {high}, such as {low}"
            )
        first, dash, last = part.strip().partition("-")
        start = _list_item(first, text, option, low, high)
        end = _list_item(last, text, option, low, high) if dash else start
        if end < start:
            raise RequestError(
                f"{option} {quoted(text)} holds the reversed range {start}-{end}; "
                f"write {end}-{start}"
            )
        listed += end - start + 1
        if listed > MOST_LISTED:
            raise RequestError(
                f"{option} {quoted(text)} lists more than {MOST_LISTED} numbers; name each once"
            )
        found.update(dict.fromkeys(range(start, end + 1)))
    return tuple(found)


def _list_item(item: str, text: str, option: str, low: int, high: int) -> int:
    """One number of a list, with errors that show the whole list."""
    if not re.fullmatch(r"[0-9]{1,20}", item, re.ASCII):
        raise RequestError(
            f"{option} {quoted(text)} is not a list of whole numbers; "
            "separate numbers and ranges by commas, such as 1,2,4-8"
        )
    if not low <= int(item) <= high:
        raise RequestError(
            f"{option} {quoted(text)} holds {item}, which is not from {low} to {high}; remove it"
        )
    return int(item)


def counts_text(counts: tuple[int, ...]) -> str:
    """The list that `parse_counts` reads back to the same numbers in the same order."""
    runs: list[list[int]] = []
    for count in counts:
        if runs and count == runs[-1][1] + 1:
            runs[-1][1] = count
        else:
            runs.append([count, count])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)


def bytes_text(count: int) -> str:
    """The shortest text that `parse_bytes` reads back to exactly this many bytes."""
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        whole, rest = divmod(count, _BYTE_UNITS[unit])
        if whole and not rest:
            return f"{whole}{unit}"
    return str(count)


def format_bytes(count: int) -> str:
    """A size for readers: exact in KiB, MiB, GiB if possible, else three digits of kB, MB, GB."""
    if count < KIB:
        return f"{count} B"
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        value = Fraction(count, _BYTE_UNITS[unit])
        if value >= 1 and (value * 4).denominator == 1:
            return f"{float(value):g} {unit}" if value < 10_240 else _si(count, "B")
    return _si(count, "B")


def format_count(count: int, noun: str) -> str:
    """A number of things: `1 thread`, `2 threads`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def format_duration(seconds: float) -> str:
    """A time for readers: `12.3 ns`, `350 ms`, `4.2 s`, `1 min 05 s`, `2 h 03 min`."""
    for scale, unit in ((1e-9, "ns"), (1e-6, "us"), (1e-3, "ms")):
        if abs(seconds) < 999.5 * scale:
            return f"{_three_digits(seconds / scale)} {unit}"
    whole = round(seconds)
    if whole < 60:
        return f"{_three_digits(seconds)} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02} min"


def format_long(seconds: float) -> str:
    """As `format_duration`, for times of up to days or years: `9 days`, `12 years`."""
    days = seconds / 86_400
    if days < 2:
        return format_duration(seconds)
    return f"{days:.0f} days" if days < 730 else f"{days / 365.25:,.0f} years"


def _quantity(
    text: str, option: str, what: str, units: dict[str, int] | dict[str, Fraction], example: str
) -> Fraction:
    value = _amount(text, option, what, units, example)
    if value == 0:
        raise RequestError(f"{option} {quoted(text)} is zero; {example}")
    return value


def _amount(
    text: str, option: str, what: str, units: dict[str, int] | dict[str, Fraction], example: str
) -> Fraction:
    stripped = text.strip()
    if _NEGATIVE.match(stripped):
        raise RequestError(f"{option} {quoted(text)} is negative; {example}")
    match = _NUMBER.fullmatch(stripped)
    if match is None or match[2] not in {"", *units}:
        raise RequestError(f"{option} {quoted(text)} is not {what}; {example}")
    return Fraction(match[1]) * units.get(match[2], 1)


def _nonzero_float(value: Fraction, text: str, option: str) -> float:
    number = float(value)
    if number < 1e-9:
        raise RequestError(
            f"{option} {quoted(text)} is too small to be meaningful; write a larger value"
        )
    return number


def _si(value: float, unit: str) -> str:
    for scale, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= 0.9995 * scale:
            return f"{_three_digits(value / scale)} {prefix}{unit}"
    return f"{_three_digits(value)} {unit}"


def _three_digits(value: float) -> str:
    if abs(value) >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 9.995 else f"{value:.2f}"
