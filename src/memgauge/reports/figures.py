"""A chart as SVG, PNG or Vega-Lite: one Altair definition for paper, page and screen."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import TYPE_CHECKING, Any

from memgauge.model.errors import RequestError
from memgauge.reports.script_cache import kept
from memgauge.reports.theme import WIDTH_PX, config

if TYPE_CHECKING:
    from types import ModuleType

    from memgauge.analysis.section import Chart

PNG_SCALE = 2.0
"""Pixels of the PNG to one of the layout."""


def unavailable() -> str | None:
    """Why no picture can be drawn here, or None where one can."""
    try:
        _vl_convert()
        _drawing()
    except RequestError as error:
        return str(error)
    return None


def vega_lite(chart: Chart, *, dark: bool = False, fill_container: bool = False) -> dict[str, Any]:
    """The chart as a Vega-Lite specification, with its data inline.

    `fill_container` leaves the width to the page. Raises RequestError when Altair is missing.
    """
    width = "container" if fill_container else WIDTH_PX
    specification: dict[str, Any] = _drawing().specification(chart, width)
    specification["config"] = config(dark=dark)
    return specification


def vega_lite_json(chart: Chart, *, dark: bool = False) -> bytes:
    """The chart for any Vega-Lite viewer."""
    return json.dumps(vega_lite(chart, dark=dark), indent=1, allow_nan=False).encode()


def svg(chart: Chart, *, dark: bool = False) -> str:
    """The chart as a vector picture. Raises RequestError where it cannot be drawn."""
    convert = _vl_convert()
    try:
        picture: str = convert.vegalite_to_svg(vega_lite(chart, dark=dark))
    except ValueError as error:
        raise _refused(chart, error) from error
    return picture


def png(chart: Chart, *, dark: bool = False) -> bytes:
    """The chart as pixels, twice as fine as the layout. Raises RequestError as `svg` does."""
    convert = _vl_convert()
    try:
        converted: bytes = convert.vegalite_to_png(vega_lite(chart, dark=dark), scale=PNG_SCALE)
    except ValueError as error:
        raise _refused(chart, error) from error
    return converted


def _refused(chart: Chart, error: ValueError) -> RequestError:
    """Vega-Lite takes some names for expressions, such as a category called `if`."""
    why = " ".join(str(error).split("\n")[:2])
    return RequestError(
        f"chart {chart.name!r} cannot be drawn ({why}); its table holds the figures"
    )


@cache
def javascript(snippet: str) -> str:
    """The libraries that draw charts in a page, and the snippet that binds `vegaEmbed`."""
    convert = _vl_convert()
    made_of = hashlib.sha256(f"{convert.__version__} {snippet}".encode()).hexdigest()[:16]

    def bundle() -> str:
        bundled: str = convert.javascript_bundle(snippet)
        return bundled

    return kept(f"vega-{made_of}.js", bundle)


def _drawing() -> ModuleType:
    try:
        from memgauge.reports import drawing
    except ImportError as error:
        raise _cannot_draw("altair", error) from error
    return drawing


def _vl_convert() -> Any:
    try:
        import vl_convert
    except ImportError as error:
        raise _cannot_draw("vl-convert-python", error) from error
    return vl_convert


def _cannot_draw(package: str, error: ImportError) -> RequestError:
    return RequestError(
        f"cannot draw charts: {package} does not load ({error}); install it where it has a wheel, "
        "or render the run on another machine"
    )
