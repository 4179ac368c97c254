"""What `pages` records about its points."""

from __future__ import annotations

from memgauge.model.points.facts import Facts
from memgauge.model.points.shared import Backing


class PagesRequested(Facts, frozen=True, kw_only=True):
    """So many lines, so far apart, in pages of one kind."""

    pages: str = ""
    stride_bytes: int | None = None
    accesses_distinct: int | None = None
    """Lines that are read again and again."""
    footprint_bytes: int | None = None
    """From the first line to the end of the last one's slot."""


class PagesActual(Backing, frozen=True, kw_only=True):
    """Where the lines lie."""

    cpus: str = ""
    spacing_bytes: int | None = None
    """From line to line: a little more than the stride, so that no low bits are equal."""
    page_bytes: int | None = None
    """Of a buffer in pages of two sizes, that of the huge ones."""
    pages_touched: int | None = None
    """Distinct pages that the lines lie on."""
