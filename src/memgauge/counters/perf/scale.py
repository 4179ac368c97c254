"""What one raw count is worth: the kernel's `.scale` and `.unit` before what documents say."""

from __future__ import annotations

import msgspec

from memgauge.counters.perf.data import KnownEvent
from memgauge.counters.perf.pmu import PublishedEvent
from memgauge.model.counting.events import Certainty, Quantity
from memgauge.model.text import quoted

BYTE_UNITS = {
    "b": 1, "byte": 1, "bytes": 1,
    "kb": 10**3, "mb": 10**6, "gb": 10**9,
    "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
}  # fmt: skip
"""Of `.unit` files, in lower case."""
_OTHER_UNITS = {"joules": "J", "j": "J", "w": "W", "watts": "W", "ns": "s", "hz": "Hz"}
_FACTORS = {"ns": 1e-9}
_SAME = 1e-6
"""Relative: a scale in decimal digits against the exact one."""
PUBLISHED = "the kernel's .scale and .unit files"


class Worth(msgspec.Struct, frozen=True, kw_only=True):
    """Units for one raw count."""

    quantity: Quantity
    unit: str
    scale: float
    source: str
    note: str | None = None
    """Where the kernel and the documents disagree, or nobody knows."""


def worth(published: PublishedEvent | None, known: KnownEvent | None) -> Worth:
    """Of an event that is published, known from documents, or both."""
    if known is None:
        return _published_only(published)
    if known.unit == "B":
        return _bytes(published, known)
    if published is not None and published.scale is not None and known.unit:
        return Worth(
            quantity=known.quantity, unit=known.unit, scale=published.scale, source=PUBLISHED
        )
    return Worth(quantity=known.quantity, unit=known.unit, scale=known.scale, source=known.from_)


def certainty_of(value: Worth, known: KnownEvent) -> Certainty:
    """How certain a scale is: of bytes that lack the scale they hold for, none is known."""
    return known.certainty if value.quantity == known.quantity else "none"


def _bytes(published: PublishedEvent | None, known: KnownEvent) -> Worth:
    documented = known.bytes_per_count or 1.0
    scale = None if published is None else published.scale
    if scale is not None and scale in known.misleading_scales:
        return Worth(
            quantity=known.quantity,
            unit="B",
            scale=documented,
            source=f"{known.from_}; the kernel's .scale file, {scale:g}, misleads and is not used",
        )
    unit = (published.unit or "").lower() if published is not None else ""
    if scale is None:
        return _documented(known, documented)
    if unit and unit not in BYTE_UNITS:
        # A scale in a unit nobody knows is worth no bytes: it is as if there were none.
        doubt = (
            f"the kernel's unit {quoted(unit)} of event {known.name} is not known, so that its "
            f"scale {scale:g} is not used: verify"
        )
        return msgspec.structs.replace(_documented(known, documented), note=doubt)
    if unit in BYTE_UNITS:
        bytes_ = scale * BYTE_UNITS[unit]
        disagree = not known.needs_scale and abs(bytes_ - documented) > _SAME * documented
        note = (
            f"the kernel's scale is {bytes_:g} bytes per count, that of {known.from_} is "
            f"{documented:g}; the kernel's is used: verify"
            if disagree
            else None
        )
        return Worth(quantity=known.quantity, unit="B", scale=bytes_, source=PUBLISHED, note=note)
    return Worth(
        quantity=known.quantity,
        unit="B",
        scale=scale * documented,
        source=f"the kernel's .scale file, {scale:g}, times {documented:g} bytes: {known.from_}",
    )


def _documented(known: KnownEvent, documented: float) -> Worth:
    if known.needs_scale and known.catalogue_scale is not None:
        return Worth(
            quantity=known.quantity,
            unit="B",
            scale=known.catalogue_scale * documented,
            source=f"the published scale, {known.catalogue_scale:g}, as the kernel gives no "
            f".scale file here, times {documented:g} bytes: {known.from_}",
        )
    if known.needs_scale:
        return Worth(
            quantity="count",
            unit="",
            scale=1.0,
            source="none",
            note="the kernel gives no .scale file, without which the bytes per count are unknown",
        )
    return Worth(quantity=known.quantity, unit="B", scale=documented, source=known.from_)


def _published_only(published: PublishedEvent | None) -> Worth:
    if published is None or published.scale is None:
        return Worth(quantity="count", unit="", scale=1.0, source="plain counts")
    unit = (published.unit or "").lower()
    if unit in BYTE_UNITS:
        return Worth(
            quantity="count", unit="B", scale=published.scale * BYTE_UNITS[unit], source=PUBLISHED
        )
    return Worth(
        quantity="energy" if _OTHER_UNITS.get(unit) == "J" else "count",
        unit=_OTHER_UNITS.get(unit, ""),
        scale=published.scale * _FACTORS.get(unit, 1.0),
        source=PUBLISHED,
    )
