"""`memgauge counters explain EVENT`: what is known of an event."""

from __future__ import annotations

import click

from memgauge.commands.shared.options import json_option
from memgauge.commands.shared.output import print_json


@click.command("explain")
@click.argument("events", nargs=-1, required=True, metavar="EVENT...")
@json_option
def command(events: tuple[str, ...], *, as_json: bool) -> None:
    """Say what EVENT means, how it is encoded, what a count is worth and where that is from.

    EVENT is a name that 'memgauge counters' lists, a raw encoding such as
    perf:uncore_imc/event=0x04,umask=0x03/, or 'auto': what would be chosen for memory traffic,
    and why, by what 'counters verify' found and by how certain each scale is.
    """
    from memgauge.analysis.counters.events_document import counters_document
    from memgauge.counters.choice import memory_choice
    from memgauge.counters.host import this_host
    from memgauge.counters.opening import find
    from memgauge.counters.registry import state_with
    from memgauge.counters.verdicts import kept_here
    from memgauge.model.counting.event_names import AUTOMATIC
    from memgauge.system.native import load_core

    load_core()
    host = this_host()
    known = kept_here(host)
    found = find(events, host)
    states = [
        state_with(name, host, [event for event in found if event.back_end == name])
        for name in dict.fromkeys(event.back_end for event in found)
    ]
    reasons = memory_choice(host).reasons if AUTOMATIC in events else []
    document = counters_document(
        states,
        known.of,
        tree=str(host.sysfs) if host.is_substituted else None,
        notes=[
            *([known.note] if known.note else []),
            *(f"auto: {why}" for why in reasons),
            *(note for state in states if host.is_substituted for note in state.notes),
        ],
        calibration=host.calibration,
    )
    if as_json:
        print_json(document)
        return
    from memgauge.commands.shared.output import print_text
    from memgauge.reports.counters import render_explained

    print_text(lambda look: render_explained(document, look))
