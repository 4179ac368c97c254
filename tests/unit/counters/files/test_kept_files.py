"""What all back ends of small files share: one file once, limits of descriptors, any text asked."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("memgauge._core")

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.counters.small_files import opening, plant

from memgauge.counters.files.cgroup import Cgroup
from memgauge.counters.files.hwmon import Hwmon
from memgauge.counters.files.infiniband import Infiniband
from memgauge.counters.files.kept_files import FileBackEnd
from memgauge.counters.files.net import Net
from memgauge.counters.files.powercap import Powercap
from memgauge.counters.files.resctrl import Resctrl
from memgauge.counters.host import Host
from memgauge.model.errors import CounterRefused, RequestError

BACK_ENDS = (Cgroup, Hwmon, Infiniband, Net, Powercap, Resctrl)
INTERFACES = 60


def interfaces(root: Path) -> Host:
    return plant(
        root,
        {
            f"/sys/class/net/eth{number}/statistics/{way}_bytes": f"{number}\n"
            for number in range(INTERFACES)
            for way in ("rx", "tx")
        },
    )


@contextmanager
def few_descriptors(spare: int) -> Iterator[None]:
    """Room for so many more open files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    probe = os.open("/", os.O_RDONLY)
    os.close(probe)
    resource.setrlimit(resource.RLIMIT_NOFILE, (probe + spare, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208


def test_too_few_descriptors_are_told_and_nothing_stays_open(tmp_path: Path) -> None:
    back_end = Net(interfaces(tmp_path))
    events = back_end.events()
    before = open_descriptors()
    with few_descriptors(20), pytest.raises(CounterRefused, match=r"open files \(ulimit -n\)"):
        back_end.open(events)
    assert open_descriptors() == before


def test_descriptors_are_closed_with_the_sources(tmp_path: Path) -> None:
    back_end = Net(interfaces(tmp_path))
    before = open_descriptors()
    opened = opening(back_end, ["eth3/rx_bytes", "eth3/tx_bytes"])
    assert open_descriptors() == before + 2
    del opened
    assert open_descriptors() == before


def test_counters_stand_in_the_order_asked_whatever_the_order_of_files(tmp_path: Path) -> None:
    texts = ["eth50/tx_bytes", "eth7/rx_bytes", "eth9/rx_bytes"]
    opened = opening(Net(interfaces(tmp_path)), texts)
    assert list(opened.raw().values()) == [50, 7, 9]


@pytest.mark.parametrize("kind", BACK_ENDS)
@given(text=st.text() | st.from_regex(r"[/.a-z0-9_:-]{0,40}"))
def test_any_text_is_known_or_a_request_error(kind: type[FileBackEnd], text: str) -> None:
    message = ""
    try:
        assert kind(Host()).find(text)
    except RequestError as error:
        message = str(error)
    assert "\n" not in message


@pytest.mark.parametrize("text", ["/a\nb/memory.current", "/a\0b/memory.current"])
def test_odd_groups_are_told_in_one_line(text: str) -> None:
    with pytest.raises(RequestError) as refused:
        Cgroup(Host()).find(text)
    assert "\n" not in str(refused.value)
    assert "\0" not in str(refused.value)
