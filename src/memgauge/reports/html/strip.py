"""A published range as a bar, with this machine's figure as a mark; drawn without a script.

Places are percentages of the width and text keeps its size: a phone and paper show the same.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from memgauge.analysis.section import Column
from memgauge.reports import cells
from memgauge.reports.html.escaped import text

if TYPE_CHECKING:
    from memgauge.analysis.section import Standing

_MARGIN = 20.0
"""Percent of the width that is left on either side, for the numbers at the ends of the bar."""
_MIDDLE = (40.0, 60.0)
"""Places between which words are centred on the mark; others point inwards."""
_WORDS_Y, _BAR_Y, _ENDS_Y = 13, 30, 52
_HEIGHT = 58
"""Pixels from the top."""


def standing_strip(standing: Standing) -> str:
    """Title, picture and source of one range."""
    around = cells.spread(standing.value, standing.unit)
    own = f"this machine {_number(standing.value.value, standing)} {standing.unit} {around}"
    low, high = _number(standing.low, standing), _number(standing.high, standing)
    described = f"{standing.title}: {own}; published {low} to {high} {standing.unit}."
    at, start, end = (
        _place(value, standing) for value in (standing.value.value, standing.low, standing.high)
    )
    whisker = (_place(standing.value.low, standing), _place(standing.value.high, standing))
    drawn = [
        _line("axis", (0, 100), (_BAR_Y, _BAR_Y)),
        _line("published", (start, end), (_BAR_Y, _BAR_Y)),
        _line("whisker", whisker, (_BAR_Y, _BAR_Y)),
        _line("mark", (at, at), (_BAR_Y - 11, _BAR_Y + 11)),
        _words("own", at, _WORDS_Y, _anchor(at), own),
    ]
    if low == high:
        drawn.append(_words("end", (start + end) / 2, _ENDS_Y, "middle", f"{low} {standing.unit}"))
    else:
        drawn.append(_words("end", start, _ENDS_Y, "end", low))
        drawn.append(_words("end", end, _ENDS_Y, "start", f"{high} {standing.unit}"))
    return (
        f'<div class="standing"><span>{text(standing.title)}</span>'
        f'<svg role="img" aria-label="{text(described)}" width="100%" height="{_HEIGHT}">'
        f"{''.join(drawn)}</svg>"
        f'<span class="detail">{text(standing.source)}</span></div>'
    )


def _number(value: float, standing: Standing) -> str:
    column = Column(title=standing.title, unit=standing.unit, digits=standing.digits)
    return cells.text(value, column, None)


def _place(value: float, standing: Standing) -> float:
    """Percent of the width."""
    width = standing.end - standing.start
    share = (value - standing.start) / width if width > 0 else 0.5
    inner = min(max(share, 0.0), 1.0) if math.isfinite(share) else 0.5
    return round(_MARGIN + (100 - 2 * _MARGIN) * inner, 2)


def _anchor(at: float) -> str:
    low, high = _MIDDLE
    return "start" if at < low else "end" if at > high else "middle"


def _line(role: str, x: tuple[float, float], y: tuple[float, float]) -> str:
    return f'<line class="{role}" x1="{x[0]}%" x2="{x[1]}%" y1="{y[0]}" y2="{y[1]}"/>'


def _words(role: str, x: float, y: float, anchor: str, said: str) -> str:
    return f'<text class="{role}" x="{x}%" y="{y}" text-anchor="{anchor}">{text(said)}</text>'
