"""A chart as SVG, PNG or Vega-Lite: one Altair definition for paper, page and screen."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memgauge.model.errors import RequestError
from memgauge.reports.charts.package_trial import Task, obstacle
from memgauge.reports.charts.script_cache import bundle, licences, shipped, snippet
from memgauge.reports.charts.theme import WIDTH_PX, config

if TYPE_CHECKING:
    from types import ModuleType

    from memgauge.analysis.section import Chart

INSTALL = "pip install 'memgauge[pictures]'"
SAVE = f"{INSTALL}, save them from the page of 'memgauge report'"
"""What gives charts as files."""

PNG_SCALE = 2.0
"""Pixels of the PNG to one of the layout."""


def unavailable() -> str | None:
    """Why no page can have charts, or None if pages can have them."""
    try:
        _drawing()
        if shipped() is None:
            _vl_convert()
    except RequestError as error:
        return str(error)
    return None


def vega_lite(chart: Chart, *, dark: bool = False, fill_container: bool = False) -> dict[str, Any]:
    """The chart as a Vega-Lite specification, with its data inline.

    Args:
        chart: Chart of any kind.
        dark: Whether colours suit a dark background.
        fill_container: Whether the page that embeds the chart sets its width.

    Raises:
        RequestError: Altair is missing, or there is too little memory to load it.
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
    convert = _vl_convert("picture")
    try:
        picture: str = convert.vegalite_to_svg(vega_lite(chart, dark=dark))
    except ValueError as error:
        raise _refused(chart, error) from error
    return picture


def png(chart: Chart, *, dark: bool = False) -> bytes:
    """The chart as pixels, twice as fine as the layout. Raises RequestError as `svg` does."""
    convert = _vl_convert("picture")
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
def javascript() -> str:
    """The libraries that draw charts in a page, bound to `window.vegaEmbed`, below their licences.

    Raises:
        RequestError: the package lacks them, they are not cached and cannot be bundled here.
    """
    found = shipped()
    return licences() + (_bundled() if found is None else found)


def _bundled() -> str:
    convert = _vl_convert()

    def make() -> str:
        made: str = _vl_convert("script").javascript_bundle(snippet())
        return made

    return bundle(convert.__version__, make)


def _drawing() -> ModuleType:
    try:
        with _some_home():
            from memgauge.reports.charts import drawing
    except ImportError as error:
        step = "install it if a wheel exists for this platform"
        raise _cannot_draw("altair", error, step) from error
    except MemoryError as error:
        raise RequestError(
            "cannot draw charts: too little memory to load altair; raise the limits of this "
            "process "
            "(ulimit -v, ulimit -d), or render the run on another machine"
        ) from error
    return drawing


@contextmanager
def _some_home() -> Iterator[None]:
    """Set HOME for a user without one: on import, Altair derives an unused cache path from it."""
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = os.sep
        try:
            yield
        finally:
            del os.environ["HOME"]
    else:
        yield


def _vl_convert(task: Task | None = None) -> Any:
    """Load the library.

    For tasks of its JavaScript engine, only if a trial process survives them.
    """
    try:
        import vl_convert
    except ImportError as error:
        step = SAVE if task == "picture" else INSTALL
        raise _cannot_draw("vl-convert-python", error, step) from error
    reason = None if task is None else obstacle(task)
    if reason is not None:
        raise RequestError(
            f"cannot draw charts: {reason}; raise them, or render the run on another machine"
        )
    return vl_convert


def _cannot_draw(package: str, error: ImportError, step: str) -> RequestError:
    return RequestError(
        f"cannot draw charts: {package} cannot be loaded ({error}); {step}, or render the run on "
        "another machine"
    )
