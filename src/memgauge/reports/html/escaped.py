"""Text of a run as text of the page."""

from __future__ import annotations

from html import escape

from memgauge.model.text import bounded, plain
from memgauge.reports import cells


def text(text: str) -> str:
    """Text without control characters, bounded and escaped."""
    return escape(plain(bounded(text, cells.MOST_TEXT)))
