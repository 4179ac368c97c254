"""A GPU's link and place by sysfs, as its points recorded them, and what follows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from memgauge.analysis.section import Verdict
from memgauge.analysis.transfers.figures import Line
from memgauge.model.system import System

RATE = 1e-9
"""Bytes a second to GB/s."""


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A claim: of one direction."""

    gb_per_s: float
    text: str
    """Such as `16 GT/s x16, 128b/130b`."""
    when: str
    """When it was read."""
    most_gb_per_s: float | None
    """What both ends can do at most; None: not known."""
    most_text: str


def link_of(line: Line) -> Link | None:
    """None where sysfs reports no link."""
    place = line.place
    rate, most = place.link_bytes_per_s, place.link_max_bytes_per_s
    if not rate or rate <= 0:
        return None
    return Link(
        gb_per_s=rate * RATE,
        text=place.link,
        when=place.link_read,
        most_gb_per_s=None if most is None else most * RATE,
        most_text=place.link_max,
    )


def fastest(lines: Sequence[Line]) -> Line | None:
    """Between host and GPU, whichever direction and memory."""
    known = [(line.best[1].value, at) for at, line in enumerate(lines) if line.best]
    return lines[max(known)[1]] if known else None


def carries(link: Link, lines: Sequence[Line]) -> bool:
    """Whether all that was measured can have gone over that link."""
    top = fastest(lines)
    return top is None or top.best is None or top.best[1].low <= link.gb_per_s


def claimed_link(line: Line, host: Sequence[Line]) -> Link | None:
    """The link that bounds these transfers, by all those to and from the host; None of a peer."""
    link = link_of(line) if line.way.host else None
    return link if link is not None and carries(link, host) else None


def link_verdicts(lines: Sequence[Line]) -> Iterator[Verdict]:
    """What the fastest transfers reach of the link; of one that is no bound, that it is none."""
    top = fastest(lines)
    link = link_of(lines[0]) if lines else None
    if top is None or top.best is None or link is None:
        return
    speed = top.best[1].value
    if not carries(link, lines):
        yield Verdict(
            level="note",
            text=f"{top.begun}: {speed:.1f} GB/s is more than the {link.gb_per_s:.1f} "
            f"GB/s that the GPU's PCIe link carries one way ({link.text}): transfers take another "
            f"way, such as NVLink-C2C, and no theoretical bandwidth is claimed.",
        )
        return
    yield Verdict(
        level="note",
        text=f"The fastest transfers ({top.name}) reach {speed / link.gb_per_s:.0%} of the "
        f"{link.gb_per_s:.1f} GB/s that the GPU's PCIe link carries one way ({link.text}, by "
        f"sysfs, read {link.when}), including packet headers.",
    )
    if link.most_gb_per_s is not None and link.gb_per_s < 0.99 * link.most_gb_per_s:
        yield Verdict(
            level="warning",
            text=f"The GPU's link runs at {link.text}, but supports {link.most_text}: "
            f"{link.gb_per_s:.1f} instead of {link.most_gb_per_s:.1f} GB/s one way.",
            remedy="see whether the slot, a riser or a switch has fewer lanes or is slower "
            "(lspci -vv), or whether power management holds the link down (nvidia-smi -q -d "
            "PERFORMANCE)",
        )


def place_verdicts(lines: Sequence[Line], system: System) -> Iterator[Verdict]:
    """Host memory that is not at the GPU's node, where both are known."""
    for line in {line.way: line for line in lines if line.way.host}.values():
        near, node, host = line.place.gpu_node, line.actual.node, line.way.host
        if near is not None and node is None and len([n for n in system.nodes if n.bytes]) > 1:
            yield Verdict(
                level="note",
                text=f"The GPU is at node {near}; it is not known on which node the host's "
                f"buffers ({host}) were.",
                remedy=f"--host-memory node:{near}",
            )
        if near is None or node is None or near == node:
            continue
        distance = next((n.distances.get(node) for n in system.nodes if n.node == near), None)
        far = "" if distance is None else f", at distance {distance} by the firmware"
        yield Verdict(
            level="warning",
            text=f"The host's buffers ({host}) were on node {node}, but the GPU is at node "
            f"{near}{far}: transfers crossed between these nodes.",
            remedy=f"--host-memory node:{near}",
        )
