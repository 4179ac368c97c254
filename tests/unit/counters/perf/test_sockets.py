"""Which socket a controller belongs to, by each platform's rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.counters.perf.pmu import Pmu
from memgauge.counters.perf.sockets import Layout, SocketRule, sockets_of

TWO = Layout({0: 36, 1: 3180})
ONE = Layout({0: 0, 1: 0})


def known(
    rule: SocketRule, numbers: list[str], layout: Layout = TWO, dies: int | None = None
) -> list[int | None]:
    pmus = [Pmu(name=f"x_{number}", type=1) for number in numbers]
    return sockets_of(pmus, numbers, rule, layout, dies)


def test_addresses_are_shared_out_in_their_order() -> None:
    assert known("address", ["5000", "1000", "5001", "1001"]) == [3180, 36, 3180, 36]


def test_an_uneven_number_of_addresses_is_split_at_the_widest_gap() -> None:
    assert known("address", ["1000", "1004", "1008", "5000", "5004"]) == [36, 36, 36, 3180, 3180]


def test_one_socket_has_all() -> None:
    assert known("address", ["1000", "5000", "9000"], ONE) == [0, 0, 0]


def test_fewer_controllers_than_sockets_tell_nothing() -> None:
    assert known("address", ["1000"]) == [None]


def test_the_number_is_the_sockets_place_not_its_name() -> None:
    assert known("number", ["0", "1", "2"]) == [36, 3180, None]


def test_two_dies_make_a_socket() -> None:
    assert known("die", ["1", "3", "5", "7"], dies=2) == [36, 36, 3180, 3180]


def test_a_missing_die_is_not_guessed_around() -> None:
    assert known("die", ["1", "3", "5"], dies=2) == [None, None, None]


def test_upper_digits_tell_the_die() -> None:
    numbers = ["21000", "21080", "40021000", "40021080"]
    assert known("die_prefix", numbers) == [36, 36, 3180, 3180]
    assert known("die_prefix", numbers, ONE) == [0, 0, 0, 0]


def test_associated_cpus_tell_the_socket() -> None:
    pmus = [
        Pmu(name="a", type=1, associated_cpus=[1]),
        Pmu(name="b", type=1, associated_cpus=[]),
        Pmu(name="c", type=1),
    ]
    assert sockets_of(pmus, ["0", "1", "2"], "associated", TWO, None) == [3180, None, None]


@given(st.lists(st.integers(0, 1 << 40), min_size=1, max_size=40, unique=True), st.integers(1, 4))
def test_sockets_rise_with_addresses_and_none_is_empty(addresses: list[int], sockets: int) -> None:
    layout = Layout({cpu: 7 * cpu for cpu in range(sockets)})
    found = known("address", [f"{address:x}" for address in sorted(addresses)], layout)
    if len(addresses) < sockets:
        assert set(found) == {None}
        return
    numbers = [one for one in found if one is not None]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(layout.sockets)


@pytest.mark.parametrize("rule", ["address", "number", "die", "die_prefix"])
def test_a_name_without_a_number_tells_nothing(rule: SocketRule) -> None:
    assert known(rule, ["", "zz"]) == [None, None]
