"""Performance Co-Pilot: counters that a daemon with privileges reads for everybody.

Its perfevent agent serves events of memory controllers; any other metric of the daemon can be asked
for by name. A reading is one fetch. See `core/include/memgauge/counters/pcp.hpp` for what happens
when the daemon dies, hangs or is restarted.

Source: PMAPI(3), pmFetch(3), pmdaperfevent(1).
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import ClassVar

from memgauge import _core
from memgauge.counters.base import MACHINE, BackEnd, Opened, Probe, Target, unknown
from memgauge.counters.host import Host
from memgauge.counters.pcp.client import Client, Failure, connect
from memgauge.counters.pcp.columns import Layout, counter_in, laid_out
from memgauge.counters.pcp.events import AGENT, VALUE, Found, Namer
from memgauge.counters.pcp.units import is_number
from memgauge.model.counting.events import Event
from memgauge.model.errors import CounterRefused, RequestError
from memgauge.model.text import quoted

_NAME = re.compile(r"([A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*)(?:\[([^\]]+)\])?")
_BEGINS_WITHIN_S = 0.6
"""The perfevent agent switches its counters on 100 ms after its start."""
_PAUSE_S = 0.05


class Pcp(BackEnd):
    """Metrics of pmcd, through libpcp."""

    name: ClassVar[str] = "pcp"
    summary: ClassVar[str] = "Performance Co-Pilot's daemon: counters without privilege"

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._answer: Client | Failure | None = None
        self._made_namer: Namer | None = None

    def probe(self) -> Probe:
        """Whether the library loads and the daemon answers."""
        answer = self._connected()
        return answer.probe if isinstance(answer, Failure) else Probe(state="ready")

    def events(self) -> list[Event]:
        """What the perfevent agent serves; other metrics are found by name."""
        answer = self._connected()
        if isinstance(answer, Failure):
            return []
        names = [name for name in answer.directory.names(AGENT) if name.endswith(VALUE)]
        metrics = answer.directory.describe(names) if names else []
        namer = self._names(answer)
        return [namer.found(one).event for one in metrics if not one.error and is_number(one)]

    def find(self, text: str) -> list[Event]:
        """Any metric of the daemon, on all of its instances, or on one: `METRIC[INSTANCE]`."""
        client = self._client(f"event {quoted(f'pcp:{text}')}")
        return [self._found(client, text).event]

    def open(self, events: Sequence[Event], target: Target = MACHINE) -> Opened:  # noqa: ARG002
        """As `BackEnd.open`; waits until the agent counts, at most 0.6 s."""
        self._answer = None  # the daemon may have gone since it was asked
        client = self._client(events[0].name)
        found = [self._found(client, event.name.removeprefix("pcp:")) for event in events]
        for one in found:
            if one.event.state != "ready":
                raise CounterRefused(f"{one.event.name}: {one.event.reason}; {one.event.remedy}")
        layout = laid_out(client, found)
        try:
            source = _core.PcpSource(client.library, client.host, layout.columns, layout.gate)
        except RequestError as error:
            raise CounterRefused(f"{events[0].name}: {error}; list the counters again") from error
        _await_values(source, layout)
        namer = self._names(client)
        sockets = namer.sockets([one.hardware for one in found if one.hardware])
        return Opened(
            sources=[source],
            counters=[counter_in(cell, sockets, namer.layout.package_of) for cell in layout.cells],
            notes=_notes(client, found),
        )

    def _connected(self) -> Client | Failure:
        if self._answer is None:
            self._answer = connect()
        return self._answer

    def _client(self, subject: str) -> Client:
        answer = self._connected()
        if isinstance(answer, Failure):
            raise CounterRefused(f"{subject}: {answer}")
        return answer

    def _names(self, client: Client) -> Namer:
        if self._made_namer is None:
            self._made_namer = Namer(self.host, is_local=client.is_local)
        return self._made_namer

    def _found(self, client: Client, text: str) -> Found:
        match = _NAME.fullmatch(text)
        requested = quoted(f"pcp:{text}")
        if match is None:
            raise RequestError(
                f"event {requested}: is not of the form METRIC or METRIC[INSTANCE]; write it as "
                "in 'pcp:perfevent.hwcounters.PMU.EVENT.value[cpu0]'"
            )
        name, instance = match.groups()
        (metric,) = client.directory.describe([name])
        if metric.error:
            raise self._unknown(client, name, metric.error)
        if not is_number(metric):
            raise RequestError(
                f"event {requested}: its values are not numbers; choose another metric"
            )
        if instance is not None and instance not in {one.name for one in metric.instances}:
            near = [f"pcp:{name}[{one.name}]" for one in metric.instances if one.name]
            raise unknown(f"pcp:{text}", near or [f"pcp:{name}"])
        return self._names(client).found(metric, instance)

    def _unknown(self, client: Client, name: str, why: str) -> RequestError:
        below = client.directory.names(name)
        known = below or client.directory.names(name.partition(".")[0])
        if name in below:
            return CounterRefused(f"event {quoted(f'pcp:{name}')}: pmcd knows it, but: {why}")
        return unknown(f"pcp:{name}", [f"pcp:{one}" for one in known or client.directory.names("")])


def _await_values(source: _core.PcpSource, layout: Layout) -> None:
    """Until each counter has a value.

    Raises:
        CounterRefused: one never has; nothing stays open.
    """
    reader = _core.Reader([source])
    until = time.monotonic() + _BEGINS_WITHIN_S
    while True:
        values = reader.read().values
        lacking = [cell for cell in layout.cells if values[cell.slot] is None]
        if not lacking:
            return
        if time.monotonic() > until:
            raise CounterRefused(_why_none(lacking[0].found, layout))
        time.sleep(_PAUSE_S)


def _why_none(found: Found, layout: Layout) -> str:
    name = found.event.name
    if layout.gate and found.hardware is not None:
        return (
            f"{name}: the agent's counters are switched off: another program holds their lock "
            "(perfalloc), or the PMU counts nothing; end it and try again"
        )
    return f"{name}: pmcd gives no value that is a number of 0 to 2^63; choose another event"


def _notes(client: Client, found: Sequence[Found]) -> list[str]:
    notes = [
        f"{one.event.name}: its scale is in doubt ({one.event.certainty}): run "
        "'memgauge counters verify'"
        for one in found
        if one.event.certainty not in {None, "confirmed", "none"}
    ]
    if not client.is_local:
        notes.append(f"counters are those of {client.machine or client.host}, not of this machine")
    return notes
