"""What `transfers` records about its points."""

from __future__ import annotations

from memgauge.model.points.facts import Facts
from memgauge.model.points.shared import Backing


class TransfersRequested(Facts, frozen=True, kw_only=True):
    """Transfers of one size in one direction between a GPU's memory and another."""

    memory: str = ""
    """The GPU's placement, such as `cuda:0`."""
    host: str = ""
    """pinned or pageable; missing: the other end is a GPU."""
    peer: str = ""
    """Placement of the other GPU; missing: the other end is the host."""
    direction: str = ""
    """As seen from the GPU."""
    at_once: bool | None = None
    """Transfers go the other way meanwhile."""
    transfer_bytes: int | None = None
    """Of one transfer."""
    host_memory: str = ""
    """Placement of the host's buffers."""


class TransfersActual(Backing, frozen=True, kw_only=True):
    """The buffers at the other end; the backing is that of the host's.

    Points record `GpuDevice` too, and those to and from the host `GpuPlace`.
    """

    transfers_per_stamp: int | None = None
    peer_gpu: str = ""
    """Name of the other GPU."""
    peer_uuid: str = ""
    direct: bool | None = None
    """The GPU reaches the other's memory itself; missing: the other end is the host."""


class GpuPlace(Facts, frozen=True, kw_only=True):
    """The PCI Express link of a GPU and its NUMA node; missing: sysfs does not report it."""

    link: str = ""
    """As it runs, such as `16 GT/s x16, 128b/130b`."""
    link_bytes_per_s: float | None = None
    """One way."""
    link_read: str = ""
    """When it was read."""
    link_max: str = ""
    """What both ends can do at most."""
    link_max_bytes_per_s: float | None = None
    gpu_node: int | None = None
    """The node nearest to the GPU."""
