"""Footprints and numbers of slots are powers of two where a walk has to visit each once."""


def power_below(number: int) -> int:
    """The largest power of two that is not above; 0 where there is none."""
    return 1 << (number.bit_length() - 1) if number > 0 else 0


def power_above(number: int) -> int:
    """The smallest power of two that is not below a positive number."""
    return 1 << (number - 1).bit_length()
