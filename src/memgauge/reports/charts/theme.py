"""How charts look: one configuration for light and one for dark surroundings."""

from __future__ import annotations

from typing import Any

WIDTH_PX = 640
"""Of a picture's plot, where a page does not set it."""

HEIGHT_PX = 340

BAND_LABEL_PX = 18
"""Height of the strip above the picture with the names of bands."""

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', Arial, sans-serif"

# Okabe and Ito, "Color Universal Design" (2008), ordered so that neighbours differ in lightness
# too and stay apart in black and white.
_LIGHT = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#4d4d4d"]
_DARK = ["#56b4e9", "#e69f00", "#2fbf95", "#dd93ba", "#f0783c", "#8ab6d6", "#c8c8c8"]

BETWEEN = ["#2b8cc4", "#e69f00", "#1aa179", "#d183b1", "#e0692a", "#6fb7e6"]
"""Where a chart names its colours itself: legible on both grounds."""
GREY = "#8c959f"

DASHES: dict[str, list[Any]] = {
    "measured": [[1, 0], [7, 3], [11, 3, 3, 3], [4, 2]],
    "unmeasured": [2, 3],
}
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]


def config(*, dark: bool) -> dict[str, Any]:
    """Vega-Lite configuration: quiet axes, readable labels, colours for the colour-blind."""
    ink, soft, grid, ground = (
        ("#e8eaed", "#a7adb5", "#343a42", "#181c21")
        if dark
        else ("#1b1f24", "#57606a", "#e3e6ea", "#ffffff")
    )
    return {
        "background": "transparent" if dark else "white",
        "font": FONT,
        "view": {"stroke": None},
        "title": {"color": ink},
        "axis": {
            "domainColor": soft,
            "tickColor": soft,
            "gridColor": grid,
            "labelColor": soft,
            "titleColor": ink,
            "labelFontSize": 12,
            "titleFontSize": 12.5,
            "titleFontWeight": 500,
            "titlePadding": 10,
            "labelPadding": 4,
        },
        "legend": {
            "orient": "top",
            "labelColor": ink,
            "titleColor": ink,
            "titleFontSize": 12.5,
            "titleFontWeight": 500,
            "titleLimit": 300,
            "labelFontSize": 12.5,
            "labelLimit": 300,
            "symbolOpacity": 1,
            "symbolSize": 90,
            "symbolStrokeWidth": 2,
            "columnPadding": 18,
            "offset": 12,
        },
        "range": {"category": _DARK if dark else _LIGHT},
        "style": {
            "band": {"color": ink, "opacity": 0.08 if dark else 0.055},
            "band-label": {"color": soft, "fontSize": 12, "fontWeight": 600},
            "phase": {"color": ink, "opacity": 0.08 if dark else 0.055, "stroke": ground},
            "phase-label": {"color": soft, "fontSize": 12, "fontWeight": 600},
            "region": {"color": soft, "opacity": 0.3},
            "region-label": {"color": ink, "fontSize": 11},
            "rule-mark": {"color": soft, "strokeWidth": 1.25, "strokeDash": [4, 3]},
            "rule-label": {"color": soft, "fontSize": 11.5},
            "rule-halo": {
                "color": ground,
                "stroke": ground,
                "strokeWidth": 4,
                "strokeJoin": "round",
                "fontSize": 11.5,
            },
            "value-label": {"color": ink, "fontSize": 11.5},
            "whisker": {"color": ink, "strokeWidth": 1.4},
            "mark-place": {"color": ink, "strokeWidth": 2.2, "size": 150},
            "mark-label": {"color": ink, "fontSize": 12, "fontWeight": 600},
            "mark-halo": {
                "color": ground,
                "stroke": ground,
                "strokeWidth": 4,
                "strokeJoin": "round",
                "fontSize": 12,
                "fontWeight": 600,
            },
            "cell-light": {"color": "#ffffff", "fontSize": 12},
            "cell-dark": {"color": "#000000", "fontSize": 12},
            "cell-missing": {"color": soft, "fontSize": 12},
        },
    }


def legend_columns(longest_name: int, width_px: float) -> int:
    """Entries of a legend that fit side by side, for the longest name in characters."""
    return max(1, int(width_px // (7 * longest_name + 44)))
