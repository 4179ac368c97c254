"""Sockets by the addresses in the names of memory controllers."""

import random

import pytest

from memgauge.model.addresses import address_in, sockets_by_address

LOW = [f"arm_dmc620_10008{low:x}" for low in range(0xC000, 0xE000, 0x400)]
HIGH = [f"arm_dmc620_50008{low:x}" for low in range(0xC000, 0xE000, 0x400)]


def test_the_order_of_names_does_not_matter() -> None:
    names = LOW + HIGH
    random.Random(1).shuffle(names)
    found = dict(zip(names, sockets_by_address(names, 2), strict=True))
    assert {found[name] for name in LOW} == {0}
    assert {found[name] for name in HIGH} == {1}


def test_one_socket_has_all() -> None:
    assert set(sockets_by_address(LOW, 1)) == {0}


@pytest.mark.parametrize("names", [LOW[:3], [*LOW, "dmc620"], [LOW[0], LOW[0]]])
def test_nothing_is_guessed(names: list[str]) -> None:
    assert set(sockets_by_address(names, 2)) == {None}


def test_an_address_stands_at_the_end() -> None:
    assert address_in("arm_dmc620_10008c000") == 0x10008C000
    assert address_in("uncore_imc") is None
