"""The infiniband back end: words of four bytes, adapters without them, refresh times."""

from pathlib import Path

import pytest

pytest.importorskip("memgauge._core")

from tests.unit.counters.small_files import opening, plant

from memgauge.counters.files.infiniband import Infiniband
from memgauge.model.errors import UnknownEvent

DEVICES = "/sys/class/infiniband"
PORT = f"{DEVICES}/mlx5_0/ports/1"
ADAPTERS = {
    f"{PORT}/link_layer": "InfiniBand\n",
    f"{PORT}/counters/port_rcv_data": "100\n",
    f"{PORT}/counters/port_xmit_data": "200\n",
    f"{PORT}/hw_counters/rx_bytes": "1\n",
    f"{PORT}/hw_counters/lifespan": "10\n",
    f"{DEVICES}/efa_0/ports/1/link_layer": "Unspecified\n",
    f"{DEVICES}/efa_0/ports/1/hw_counters/rx_bytes": "300\n",
    f"{DEVICES}/efa_0/ports/1/hw_counters/tx_bytes": "400\n",
    f"{DEVICES}/efa_0/ports/1/hw_counters/lifespan": "12\n",
}


def test_each_port_has_one_event_for_each_direction(tmp_path: Path) -> None:
    events = {event.name: event for event in Infiniband(plant(tmp_path, ADAPTERS)).events()}
    assert {name: (one.quantity, one.scale) for name, one in events.items()} == {
        "infiniband:mlx5_0/1/port_rcv_data": ("received_bytes", 4.0),
        "infiniband:mlx5_0/1/port_xmit_data": ("sent_bytes", 4.0),
        "infiniband:efa_0/1/rx_bytes": ("received_bytes", 1.0),
        "infiniband:efa_0/1/tx_bytes": ("sent_bytes", 1.0),
    }
    assert "12 ms (lifespan)" in events["infiniband:efa_0/1/rx_bytes"].pitfalls[0]
    assert "each read may ask" in events["infiniband:mlx5_0/1/port_rcv_data"].pitfalls[0]
    assert "link layer InfiniBand" in events["infiniband:mlx5_0/1/port_rcv_data"].meaning


def test_words_become_bytes_and_a_reset_port_is_missing(tmp_path: Path) -> None:
    opened = opening(Infiniband(plant(tmp_path, ADAPTERS)), ["mlx5_0/1/port_rcv_data"])
    file = tmp_path / f"{PORT}/counters/port_rcv_data".lstrip("/")
    before = opened.read()
    file.write_text(f"{100 + 250_000_000}\n")
    after = opened.read()
    file.write_text("0\n")
    name = "infiniband:mlx5_0/1/port_rcv_data@mlx5_0/1"
    assert opened.between(name, before, after) == 1e9
    assert opened.between(name, after, opened.read()) is None


def test_without_adapters_it_is_absent_and_names_the_place(tmp_path: Path) -> None:
    back_end = Infiniband(plant(tmp_path, {}))
    assert back_end.probe().state == "absent"
    assert str(tmp_path) in (back_end.probe().reason or "")
    with pytest.raises(UnknownEvent):
        back_end.find("mlx5_0/1/port_rcv_data")
