"""Which of a chip's metrics count what a GPU's memory and its link move: asked, never assumed.

Names differ between chips: `dram__bytes_read`, `dram__bytes_op_read`, on some only sectors or the
memory controller's own. So CUPTI's host library is asked for all counters of the chip at hand, the
names that are made of the right words are candidates, and the library's own properties of each
(dimension, description, hardware unit) decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from memgauge import _core
from memgauge.model.counting.events import Quantity

SOURCE = "NVIDIA, CUPTI documentation, and the description of the metric in its host library"
ROLLUP = ".sum"
"""Over all units of the device."""
SECTOR_SOURCE = "NVIDIA, Nsight Compute documentation: a sector is 32 bytes"

_BYTES_OF = {"byte": 1.0, "l2_sector": 32.0, "sector": 32.0}
"""One count's bytes, by the dimension that the library tells; best first."""
_FILLERS = frozenset({"op", "dram"})
"""Words of names that say nothing more."""


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked for among a chip's metrics."""

    name: str
    quantity: Quantity
    meaning: str
    units: tuple[str, ...]
    """Hardware units whose metrics count it, best first."""
    direction: str
    described: str
    """A word that the library's own description of it has."""
    ways: tuple[str, ...]
    automatic: bool = True


FIGURES = (
    Figure(
        name="dram_read",
        quantity="read_bytes",
        meaning="bytes read from the GPU's memory",
        units=("dram", "fbpa"),
        direction="read",
        described="dram",
        ways=("range", "sampling"),
    ),
    Figure(
        name="dram_write",
        quantity="write_bytes",
        meaning="bytes written to the GPU's memory",
        units=("dram", "fbpa"),
        direction="write",
        described="dram",
        ways=("range", "sampling"),
    ),
    Figure(
        name="pcie_read",
        quantity="count",
        meaning="bytes of read data on the GPU's PCIe link, in steps of 512",
        units=("pcie",),
        direction="read",
        described="pcie",
        ways=("sampling",),
        automatic=False,
    ),
    Figure(
        name="pcie_write",
        quantity="count",
        meaning="bytes of write data on the GPU's PCIe link, in steps of 512",
        units=("pcie",),
        direction="write",
        described="pcie",
        ways=("sampling",),
        automatic=False,
    ),
)


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """A metric of a chip that counts a figure."""

    name: str
    """With its rollup, as it is asked for: `dram__bytes_read.sum`."""
    description: str
    """The library's own."""
    dimension: str
    """Of one count, in the library's words."""
    scale: float
    """Bytes of one count."""

    @property
    def scale_source(self) -> str:
        """Where the scale is from."""
        said = f"CUPTI's host library: its dimension is {self.dimension}"
        return said if self.scale == 1.0 else f"{said}; {SECTOR_SOURCE}"


def chosen(
    figure: Figure, names: Sequence[str], describe: Callable[[str], _core.CuptiMetric]
) -> Metric | None:
    """The best metric for a figure among all counters of a chip; None: it has none.

    Args:
        figure: what is looked for.
        names: of all counters, without rollups.
        describe: asks the library for the properties of a name with its rollup.
    """
    known = [describe(name + ROLLUP) for name in names if _may_count(name, figure)]
    fitting = [one for one in known if _counts(one, figure)]
    if not fitting:
        return None
    order = list(_BYTES_OF)
    best = min(
        fitting,
        key=lambda one: (
            order.index(one.dimension),
            figure.units.index(one.hardware_unit),
            len(one.name),
        ),
    )
    return Metric(
        name=best.name,
        description=best.description,
        dimension=best.dimension,
        scale=_BYTES_OF[best.dimension],
    )


def _may_count(name: str, figure: Figure) -> bool:
    unit, _, rest = name.partition("__")
    words = sorted(word for word in rest.split("_") if word not in _FILLERS)
    counted = ("bytes", "sectors")
    return unit in figure.units and any(
        words == sorted((counts, figure.direction)) for counts in counted
    )


def _counts(metric: _core.CuptiMetric, figure: Figure) -> bool:
    said = metric.description.lower()
    return (
        metric.dimension in _BYTES_OF
        and metric.hardware_unit in figure.units
        and figure.described in said
        and "deprecated" not in said
    )
