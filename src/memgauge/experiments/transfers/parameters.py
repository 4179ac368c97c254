"""Parameters of `transfers`."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from memgauge.model import units
from memgauge.model.errors import RequestError
from memgauge.model.memory import MAX_DEVICE, MemoryPlacement, memory_option, parse_placement
from memgauge.model.option import Option, choices_option, size_option, sizes_option
from memgauge.model.parameters import HOST_OPTIONS, CommonParameters
from memgauge.model.text import quoted

HOST_DIRECTIONS = ("host-to-device", "device-to-host", "both")
PEER_DIRECTIONS = ("to-peer", "from-peer", "both-peers")
HOSTS = ("pinned", "pageable")
ALL, NONE = "all", "none"


def parse_peers(text: str, option: str) -> str:
    """`all`, `none`, or a list of other GPUs by number, checked and in its canonical form.

    Raises:
        RequestError: it is none of these.
    """
    words = text.strip()
    if words in {ALL, NONE}:
        return words
    if not words[:1].isdigit():
        raise RequestError(
            f"{option} {quoted(text)} is neither {ALL}, {NONE} nor a list of numbers of GPUs; "
            f"write {ALL}, or numbers such as 1,2"
        )
    return units.counts_text(units.parse_counts(words, option, 0, MAX_DEVICE))


_peer_option = Option(
    help=f"other GPUs to transfer to and from: {ALL}, {NONE}, or their numbers",
    metavar="LIST",
    parse=parse_peers,
    automatic="one that can be accessed directly, else the next one; fine: all",
)
_gpu_option = msgspec.structs.replace(
    memory_option,
    group="where",
    help="GPU to transfer to and from, such as cuda:0",
    automatic="none, it must be given",
)
_host_memory_option = Option(
    group="where",
    help="where the host's buffers are allocated: dram, node:N or interleave:N,N",
    metavar="KIND",
    parse=parse_placement,
)


class TransfersParameters(CommonParameters, frozen=True, kw_only=True):
    """What `transfers` takes. `memory` names the GPU."""

    takes_threads: ClassVar[bool] = False
    unlisted: ClassVar[frozenset[str]] = frozenset(HOST_OPTIONS)

    memory: Annotated[MemoryPlacement, _gpu_option] = MemoryPlacement()
    direction: Annotated[
        tuple[str, ...],
        choices_option(
            "direction of transfers, as seen from the GPU", HOST_DIRECTIONS + PEER_DIRECTIONS
        ),
    ] = HOST_DIRECTIONS + PEER_DIRECTIONS
    host: Annotated[
        tuple[str, ...],
        choices_option(
            "kind of host memory: pinned, or pageable, as ordinary allocations are", HOSTS
        ),
    ] = HOSTS
    host_memory: Annotated[MemoryPlacement, _host_memory_option] = MemoryPlacement()
    peer: Annotated[str | None, _peer_option] = None
    sizes: Annotated[
        tuple[int, ...] | None,
        sizes_option(
            "sizes of one transfer, such as 4KiB,1MiB",
            automatic="powers of two from 1 KiB; fine: from 64 B",
        ),
    ] = None
    largest_bytes: Annotated[
        int | None,
        size_option(
            "size of the largest transfer",
            automatic="256 MiB; fine: 1 GiB; less if memory is short",
        ),
    ] = None

    def __post_init__(self) -> None:
        """Read and check each value, then what must not stand together."""
        super().__post_init__()
        if self.sizes is not None and self.largest_bytes is not None:
            raise RequestError("--sizes and --largest-bytes are mutually exclusive; leave one out")
        if self.host_memory.is_gpu or self.host_memory.is_area:
            raise RequestError(
                f"--host-memory {self.host_memory}: transfers go to and from ordinary memory of "
                "the host; choose dram, node:N or interleave:N,N"
            )

    @property
    def memories(self) -> tuple[MemoryPlacement, ...]:
        """The GPU's, and where the host's buffers lie."""
        return (self.memory, self.host_memory)

    @property
    def host_directions(self) -> tuple[str, ...]:
        """Those between host and GPU."""
        return tuple(one for one in HOST_DIRECTIONS if one in self.direction)

    @property
    def peer_directions(self) -> tuple[str, ...]:
        """Those between two GPUs."""
        return tuple(one for one in PEER_DIRECTIONS if one in self.direction)

    @property
    def peers(self) -> tuple[int, ...] | None:
        """Numbers of other GPUs that were requested; None: no numbers were."""
        if self.peer in {None, ALL}:
            return None
        return () if self.peer == NONE else units.parse_counts(str(self.peer), "", 0, MAX_DEVICE)

    @property
    def all_peers(self) -> bool:
        """Whether every other GPU is meant."""
        return self.peer == ALL or (self.peer is None and self.is_fine)
