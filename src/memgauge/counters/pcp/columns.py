"""Which values of a daemon are fetched together, and in which slots they stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from memgauge import _core
from memgauge.counters.base import counter_of
from memgauge.counters.pcp.client import Client
from memgauge.counters.pcp.events import AGENT, DUTY, VALUE, Found, cpu_of, place
from memgauge.counters.pcp.units import fraction_bits
from memgauge.model.counting.events import FULL_DUTY, Counter

GENERATION = 0
"""Slot of the source that changes when the daemon's counters begin anew."""
_GATE = f"{AGENT}.active"
"""How many counters the agent read; 0 while it has them switched off."""
_DUTY_BITS = FULL_DUTY.bit_length() - 1


class MetricValue(msgspec.Struct, frozen=True, kw_only=True):
    """One counter: a metric's value for one instance."""

    found: Found
    instance: str
    slot: int
    duty_slot: int | None = None


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that one source reads."""

    columns: list[_core.PcpColumn]
    cells: list[MetricValue]
    gate: str


def laid_out(client: Client, found: Sequence[Found]) -> Layout:
    """Each counter, and the share of time it counted for where the daemon tells it."""
    duties = _duties(client, found)
    gate = _gate(client, found)
    columns: list[_core.PcpColumn] = []
    cells: list[MetricValue] = []
    for one in found:
        duty = duties.get(one.metric.name)
        for instance in one.instances:
            at = len(columns)
            has_duty = duty is not None and instance in {each.name for each in duty.instances}
            columns.append(_column(one, instance, at + 1 if has_duty else None))
            if duty is not None and has_duty:
                columns.append(
                    _core.PcpColumn(duty.name, instance, counts=False, fraction_bits=_DUTY_BITS)
                )
            cells.append(
                MetricValue(
                    found=one,
                    instance=instance,
                    slot=1 + at,
                    duty_slot=2 + at if has_duty else None,
                )
            )
    return Layout(columns=columns, cells=cells, gate=gate)


def counter_in(
    cell: MetricValue, sockets: Mapping[str, int | None], packages: Mapping[int, int]
) -> Counter:
    """The record of one counter.

    Args:
        cell: Metric and instance, with the slots of their value and of their share of time.
        sockets: Socket by name of PMU, None if unknown, for PMUs whose socket does not follow from
            the CPU; other PMUs take the socket of the instance's CPU.
        packages: Socket by number of CPU.
    """
    event, hardware = cell.found.event, cell.found.hardware
    where = place(cell.instance, hardware)
    cpu = None if hardware is None else cpu_of(cell.instance)
    by_cpu = None if cpu is None else packages.get(cpu)
    return counter_of(
        event,
        where,
        slot=cell.slot,
        route="daemon",
        scale_source=_scale_source(cell.found),
        controller=None if hardware is None else hardware.pmu,
        socket=by_cpu if hardware is None else sockets.get(hardware.pmu, by_cpu),
        cpu=cpu,
        duty_slot=cell.duty_slot,
        generation_slot=None if event.gauge else GENERATION,
    )


def _scale_source(found: Found) -> str:
    bits = fraction_bits(found.metric)
    kept = f"; the daemon's value is no integer and kept in parts of 2^-{bits}" if bits else ""
    return f"{found.event.scale_source}{kept}"


def _column(found: Found, instance: str, duty: int | None) -> _core.PcpColumn:
    return _core.PcpColumn(
        found.metric.name,
        instance,
        counts=found.metric.counts,
        fraction_bits=fraction_bits(found.metric),
        duty=duty,
        gated=_is_agents(found),
    )


def _is_agents(found: Found) -> bool:
    return found.metric.name.startswith(f"{AGENT}.")


def _duties(client: Client, found: Sequence[Found]) -> dict[str, _core.PcpMetric]:
    """By the metric whose share of time each tells."""
    requested = {
        one.metric.name: one.metric.name.removesuffix(VALUE) + DUTY
        for one in found
        if one.hardware is not None
    }
    known = client.directory.describe(list(requested.values())) if requested else []
    return {
        name: duty
        for name, duty in zip(requested, known, strict=True)
        if duty.type in {"f32", "f64"}
    }


def _gate(client: Client, found: Sequence[Found]) -> str:
    if not any(_is_agents(one) for one in found):
        return ""
    (gate,) = client.directory.describe([_GATE])
    return "" if gate.error or gate.no_value else _GATE
