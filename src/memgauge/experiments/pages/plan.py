"""The cases of `pages`: page size by stride by number of lines, and the memory each needs.

Every case reads the same number of lines as every other at the same place of its curve, one line a
slot, and all do the same number of accesses: only how many pages the lines lie on differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec

from memgauge.experiments.shared.core_counters import COUNTERS_OPTION
from memgauge.model.counting.event_names import AUTOMATIC
from memgauge.model.errors import DoesNotFit, RequestError
from memgauge.model.option import size_option, sizes_option
from memgauge.model.parameters import OneThreadParameters
from memgauge.model.system import System
from memgauge.model.units import format_bytes
from memgauge.system.memory.pages import EXPLICIT_PAGE_BYTES
from memgauge.system.topology.placement import LINE_BYTES, line_bytes_of

LEAST_COUNT = 16
COARSE_COUNT = 1 << 14
"""Four times the entries of the largest second-level TLB of today's processors."""

FINE_COUNT = 1 << 16
COARSE_BYTES = 512 << 20
FINE_BYTES = 1 << 30
MEMORY_SHARE = 4
"""Of what may be allocated, one part of so many at most."""

_ENTRY_BYTES = 8
"""Of a page-table entry: a table of one base page maps base / 8 pages, which is a huge page."""

_reserve_option = msgspec.structs.replace(
    size_option(
        "memory to reserve as explicit huge pages during the run, such as 1GiB; it is "
        "given back afterwards (requires root)",
        automatic="none; huge pages that are free are used",
    ),
    flag="--reserve-huge-pages",
)


class PagesParameters(OneThreadParameters, frozen=True, kw_only=True):
    """What `pages` takes."""

    stride_bytes: Annotated[
        tuple[int, ...] | None,
        msgspec.structs.replace(
            sizes_option(
                "distances between consecutive lines",
                automatic="one line, one base page, one huge page",
            ),
            flag="--stride",
        ),
    ] = None
    largest_bytes: Annotated[
        int | None,
        size_option(
            "largest footprint to measure", automatic="16384 lines or 512MiB; fine: 65536 or 1GiB"
        ),
    ] = None
    reserve_bytes: Annotated[int | None, _reserve_option] = None
    counters: Annotated[tuple[str, ...], COUNTERS_OPTION] = (AUTOMATIC,)


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """So many lines, so far apart, in pages of one kind."""

    pages: str
    stride_bytes: int
    count: int
    spacing_bytes: int
    """From line to line, see `spacing`."""

    @property
    def name(self) -> str:
        """Name of the point."""
        return f"pages/{self.pages}/{self.stride_bytes}/{self.count}"

    @property
    def footprint_bytes(self) -> int:
        """From the first line to the end of the last slot."""
        return self.count * self.spacing_bytes

    def pages_touched(self, page_bytes: int) -> int:
        """Distinct pages that the lines lie on, in memory that starts with a page."""
        if self.spacing_bytes >= page_bytes:
            return self.count
        return (self.spacing_bytes * (self.count - 1)) // page_bytes + 1


def spacing(stride_bytes: int, line_bytes: int, base_page_bytes: int) -> int:
    """Distance from line to line: a little more than the stride, so that no low bits are equal.

    Lines whole pages apart would all fall into the same few sets of a cache, hence one line more.
    Those of huge pages would, where huge pages are translated in pieces, do so in a TLB, hence one
    base page more.

    Args:
        stride_bytes: Requested distance; returned unchanged up to one line, when lines lie packed.
        line_bytes: Size of a cache line.
        base_page_bytes: Size of a base page.
    """
    if stride_bytes <= line_bytes:
        return stride_bytes
    return stride_bytes + line_bytes + (base_page_bytes if stride_bytes > base_page_bytes else 0)


def cases(parameters: PagesParameters, system: System, cpu: int) -> dict[str, list[Case]]:
    """The cases of each kind of pages, in the order in which they are measured.

    Args:
        parameters: As requested; `stride_bytes` None means a line, a base page and a huge page.
        system: Machine, for its page sizes, its free huge pages and its available memory.
        cpu: CPU whose caches determine the size of a line.

    Raises:
        RequestError: strides or footprints that cannot be.
    """
    line = line_bytes_of(cpu, system)
    _check(parameters, system, line)
    found: dict[str, list[Case]] = {}
    kinds = page_kinds(parameters, system)
    for pages in kinds:
        made = [
            Case(
                pages=pages,
                stride_bytes=stride,
                count=count,
                spacing_bytes=spacing(stride, line, system.base_page_bytes),
            )
            for stride in _strides(pages, parameters, system, line, packed=pages == _packed(kinds))
            for count in _counts(pages, stride, parameters, system, line)
        ]
        if made:
            found[pages] = made
    _check_fit(parameters, found)
    return found


def page_kinds(parameters: PagesParameters, system: System) -> list[str]:
    """Base pages, transparent huge ones where the kernel gives them, and explicit ones if free.

    Of a file, a device or a pool those that it has.
    """
    if parameters.pages != "auto" or parameters.memory.is_area:
        return [parameters.pages]
    transparent = ["thp"] if system.thp in {"always", "madvise"} else []
    explicit = [name for name in EXPLICIT_PAGE_BYTES if _free_bytes(name, system)]
    return ["4k", *transparent, *explicit]


def huge_page_bytes(pages: str, system: System) -> int | None:
    """Size of the pages, where they are larger than base pages."""
    if pages in EXPLICIT_PAGE_BYTES:
        return EXPLICIT_PAGE_BYTES[pages]
    if pages == "4k":
        return None
    if system.architecture == "ppc64le":
        return EXPLICIT_PAGE_BYTES["2m"]
    return system.base_page_bytes**2 // _ENTRY_BYTES


def _packed(kinds: Sequence[str]) -> str:
    """The kind of pages in which lines are packed, to compare the others with: one is enough."""
    return next((kind for kind in kinds if kind != "4k"), kinds[0])


def _strides(
    pages: str, parameters: PagesParameters, system: System, line_bytes: int, *, packed: bool
) -> Sequence[int]:
    lines = [line_bytes] if packed else []
    if parameters.stride_bytes is not None:
        return list(dict.fromkeys([*lines, *parameters.stride_bytes]))
    huge = huge_page_bytes(pages, system)
    return [*lines, system.base_page_bytes, *([huge] if huge else [])]


def _counts(
    pages: str, stride_bytes: int, parameters: PagesParameters, system: System, line_bytes: int
) -> list[int]:
    """Powers of two, because random order needs one."""
    apart = spacing(stride_bytes, line_bytes, system.base_page_bytes)
    most = _usable_bytes(pages, parameters, system) // apart
    if parameters.largest_bytes is not None:
        most = min(most, parameters.largest_bytes // stride_bytes)
    elif parameters.is_fine:
        most = min(most, FINE_BYTES // stride_bytes, FINE_COUNT)
    else:
        most = min(most, COARSE_BYTES // stride_bytes, COARSE_COUNT)
    return [1 << power for power in range(LEAST_COUNT.bit_length() - 1, most.bit_length())]


def _usable_bytes(pages: str, parameters: PagesParameters, system: System) -> int:
    if pages in EXPLICIT_PAGE_BYTES:
        return _free_bytes(pages, system)
    requested = parameters.largest_bytes is not None
    return system.available_bytes // (1 if requested else MEMORY_SHARE)


def _free_bytes(pages: str, system: System) -> int:
    """In explicit pages that nobody uses and nobody was promised."""
    size = EXPLICIT_PAGE_BYTES[pages]
    pools = (pool for pool in system.huge_pages if pool.page_bytes == size)
    return sum(max(0, pool.free - pool.reserved) * size for pool in pools)


def _check(parameters: PagesParameters, system: System, line_bytes: int) -> None:
    for stride in parameters.stride_bytes or ():
        if stride % line_bytes:
            raise RequestError(
                f"--stride {stride}: is not a whole number of lines; use a multiple of "
                f"{line_bytes} bytes"
            )
    largest = parameters.largest_bytes
    if largest is not None and largest > system.available_bytes:
        raise RequestError(
            f"--largest-bytes {format_bytes(largest)}: only "
            f"{format_bytes(system.available_bytes)} are available; ask for less"
        )


def _check_fit(parameters: PagesParameters, found: dict[str, list[Case]]) -> None:
    """Every requested stride has cases; by default there are some."""
    fitting = {case.stride_bytes for members in found.values() for case in members}
    for stride in parameters.stride_bytes or (() if found else (LINE_BYTES,)):
        if stride not in fitting:
            raise DoesNotFit(
                f"--stride {format_bytes(stride)}: not even {LEAST_COUNT} lines this far apart "
                "fit in the memory that may be used; choose a smaller stride, or increase "
                "--largest-bytes or --reserve-huge-pages"
            )
