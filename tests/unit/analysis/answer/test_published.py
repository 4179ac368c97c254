"""What an answer says of the theoretical peak and of published figures."""

from __future__ import annotations

import msgspec
import pytest
from tests.unit.analysis.runs import SPEEDS, records

from memgauge.analysis.answer.published import published_lines
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.section import AnswerLine
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.records import RunStart
from memgauge.model.run import run_of
from memgauge.model.system import FirmwareSpeed, Tier


def lines(**changes: object) -> list[AnswerLine]:
    first, *others = records()
    assert isinstance(first, RunStart)
    system = msgspec.structs.replace(first.system, **changes)
    start = msgspec.structs.replace(first, system=system)
    return list(published_lines(figures_of(run_of([start, *others]))))


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert lines(theoretical_bandwidth_bytes_per_s=None, cpu_signature=None) == []


def test_shares_of_a_given_peak_have_their_interval() -> None:
    (line,) = lines(theoretical_bandwidth_bytes_per_s=200e9, peak_is_given=True)
    assert line.detail == "200.0 GB/s as given"
    for figure in line.figures:
        assert isinstance(figure.value, Estimate)
        assert figure.value.low < figure.value.value < figure.value.high < 1


def test_what_was_published_is_a_fact_with_its_number_and_tools() -> None:
    named = {"cpu_signature": "AuthenticAMD 25 17 1", "cpu_model": "AMD EPYC 9354"}
    found = lines(theoretical_bandwidth_bytes_per_s=None, virtualisation=None, **named)
    assert [line.detail for line in found] == [
        "DRAM 88 to 89 ns (3 models of Zen 4 (Genoa), machines, sc-membench)"
    ]


def claiming(*rates: float | None, virtualisation: str | None = None) -> list[AnswerLine]:
    """Of a machine whose firmware claims these reads of its nodes with CPUs."""
    speeds = [
        FirmwareSpeed(from_nodes=[node], read_bytes_per_s=rate) for node, rate in enumerate(rates)
    ]
    local = [
        Tier(
            kind="dram",
            placement=f"node:{node}",
            bytes=1,
            nodes=[node],
            evidence="CPUs",
            firmware=speed,
        )
        for node, speed in enumerate(speeds)
    ]
    whole = msgspec.structs.replace(
        local[0], nodes=list(range(len(rates))), firmware=speeds[0] if len(rates) == 1 else None
    )
    return lines(
        theoretical_bandwidth_bytes_per_s=None,
        cpu_signature=None,
        virtualisation=virtualisation,
        tiers=[whole, *(local if len(local) > 1 else [])],
    )


@pytest.mark.parametrize("rates", [(400e9,), (200e9, 200e9)])
def test_a_claim_of_the_firmware_is_called_one_and_is_no_peak(
    rates: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SPEEDS, ("read", "tuned"), 50.0)
    (line,) = claiming(*rates)
    assert line.label == "Of the claim"
    assert line.detail == "400.0 GB/s of reads, claimed by the firmware (ACPI HMAT)"
    (figure,) = line.figures
    assert isinstance(figure.value, Estimate)
    assert figure.value.low < figure.value.value < figure.value.high


def test_a_node_without_a_claim_or_a_guest_has_no_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SPEEDS, ("read", "tuned"), 50.0)
    assert claiming(400e9, None) == []
    assert claiming(400e9, virtualisation="KVM virtual machine") == []


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("smbios", "by the firmware (SMBIOS)"),
        ("smbios and edac", "by SMBIOS, over the channels that EDAC lists"),
        ("device tree", "by the fastest clock in the device tree"),
        (None, "by the firmware"),
    ],
)
def test_the_source_of_the_peak_stands_beside_it(source: str | None, text: str) -> None:
    (line,) = lines(theoretical_bandwidth_bytes_per_s=200e9, peak_source=source)
    assert line.detail == f"200.0 GB/s {text}"


def test_each_range_is_drawn_with_the_figure_of_this_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SPEEDS, ("read", "tuned"), 60.0)
    found = lines(
        theoretical_bandwidth_bytes_per_s=160e9,
        virtualisation=None,
        cpu_signature="GenuineIntel 6 143 8",
        cpu_model="Intel(R) Xeon(R) Gold 6448H",
    )
    latency, *shares = [line.standing for line in found if line.standing is not None]
    assert latency.title == "idle latency (block-random, thp pages)"
    assert (latency.low, latency.high, latency.unit) == (95.4, 117.2, "ns")
    assert latency.value.low < latency.value.value < latency.value.high
    assert "6 figures of 6 models of Sapphire Rapids, machines, by Intel MLC" in latency.source
    assert [one.title for one in shares] == [
        "read, share of the peak (lmbench)",
        "read, share of the peak (sc-membench)",
    ]
    assert len({(one.start, one.end) for one in shares}) == 1
    assert shares[0].start < 0.68
    assert shares[0].end == 0.824


def test_nothing_is_drawn_of_a_family_that_is_not_known() -> None:
    found = lines(theoretical_bandwidth_bytes_per_s=160e9, cpu_signature="AuthenticAMD 99 1 1")
    assert [line.standing for line in found] == [None]
