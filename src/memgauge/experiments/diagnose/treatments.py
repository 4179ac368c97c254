"""What is done to a program: pressure beside it, or another way to start it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence

import msgspec

from memgauge import _core
from memgauge.experiments.diagnose.parameters import DiagnoseParameters
from memgauge.experiments.diagnose.places import Places
from memgauge.model.errors import RequestError
from memgauge.model.points.diagnose import (
    AS_IT_IS,
    AS_IT_IS_AGAIN,
    CACHE,
    COMPUTE,
    COMPUTE_AGAIN,
    READ,
    WRITE,
)

MIB = 1 << 20
MEMORY_LEAST_BYTES = 128 * MIB
CACHE_SHARE = 0.5
"""Of the last-level cache, that the cache generators walk over together."""
ARITHMETIC_BYTES = 64 << 10
ARITHMETIC_UNITS = 100_000
"""Of a pause after every 16 lines: about 0.1 ms of multiplications."""


class Pressure(msgspec.Struct, frozen=True, kw_only=True):
    """What each generator does."""

    bytes: int
    """Read from as many and written to as many others."""
    reads: int = 1
    writes: int = 0
    store: str = "temporal"
    delay: int = 0

    def spec(self) -> _core.TrafficSpec:
        """As the native generators take it."""
        return _core.TrafficSpec(self.reads, self.writes, self.store, "sequential", self.delay)


class Treatment(msgspec.Struct, frozen=True, kw_only=True):
    """One way to run the program."""

    name: str
    kind: str
    baseline: str = ""
    """What it is compared with; empty: it is a baseline."""
    pressure: Pressure | None = None
    words: list[str] | None = None
    """Another command; None: the one that is diagnosed."""
    environment: dict[str, str] = {}
    """Variables that differ."""
    transparent_huge_pages: bool = True
    """False: switched off for the process (prctl PR_SET_THP_DISABLE)."""
    change: str = ""


def pressures(places: Places) -> list[Treatment]:
    """Treatments by generators, the control first and then what matters most."""
    generators = len(places.pressure)
    llc_bytes = places.llc_bytes or 32 * MIB
    memory_bytes = max(MEMORY_LEAST_BYTES, 4 * llc_bytes // generators)
    arithmetic = Pressure(bytes=ARITHMETIC_BYTES, delay=ARITHMETIC_UNITS)
    cached_bytes = max(MIB, int(CACHE_SHARE * llc_bytes) // generators)
    made = {
        COMPUTE: arithmetic,
        COMPUTE_AGAIN: arithmetic,
        WRITE: Pressure(bytes=memory_bytes, reads=0, writes=1, store=_store()),
        CACHE: Pressure(bytes=cached_bytes),
        READ: Pressure(bytes=memory_bytes),
    }
    return [
        Treatment(
            name=name,
            kind="pressure",
            baseline="" if name == COMPUTE else COMPUTE,
            pressure=pressure,
        )
        for name, pressure in made.items()
    ]


def _store() -> str:
    """Stores past the caches press hardest; not every processor has them."""
    try:
        _core.TrafficSpec(0, 1, "non-temporal")
    except RequestError:
        return "temporal"
    return "non-temporal"


def variants(parameters: DiagnoseParameters, places: Places) -> list[Treatment]:
    """Other ways to start the program; the baseline and its repetition first."""
    made: list[Treatment] = []
    if "pages" in parameters.only:
        made += _page_variants(os.environ)
    if "threads" in parameters.only:
        made += _thread_variants(len(places.program))
    for own in parameters.variants or ():
        variable = own.variable
        made.append(
            _variant(
                own.name,
                own.what,
                environment={} if variable is None else dict([variable]),
                words=shlex.split(own.what) if variable is None else None,
            )
        )
    if not made:
        return []
    return [
        Treatment(name=AS_IT_IS, kind="variant"),
        Treatment(name=AS_IT_IS_AGAIN, kind="variant", baseline=AS_IT_IS),
        *made,
    ]


def _variant(
    name: str,
    change: str,
    *,
    environment: dict[str, str] | None = None,
    words: list[str] | None = None,
    transparent_huge_pages: bool = True,
) -> Treatment:
    return Treatment(
        name=name,
        kind="variant",
        baseline=AS_IT_IS,
        change=change,
        environment=environment or {},
        words=words,
        transparent_huge_pages=transparent_huge_pages,
    )


def _page_variants(environment: Mapping[str, str]) -> list[Treatment]:
    """Huge pages of the allocator of the C library on, and huge pages of the process off."""
    tunables = environment.get("GLIBC_TUNABLES")
    asked = ":".join(filter(None, (tunables, "glibc.malloc.hugetlb=1")))
    return [
        _variant(
            "malloc on huge pages",
            f"GLIBC_TUNABLES={asked}",
            environment={"GLIBC_TUNABLES": asked},
        ),
        _variant(
            "no huge pages",
            "transparent huge pages switched off for the process",
            transparent_huge_pages=False,
        ),
    ]


THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "GOMAXPROCS",
)


def _thread_variants(cpus: int) -> list[Treatment]:
    """Half of the CPUs, and one."""
    return [
        _variant(
            f"{count} threads" if count > 1 else "1 thread",
            f"OMP_NUM_THREADS and its kind = {count}",
            environment=dict.fromkeys(THREAD_VARIABLES, str(count)),
        )
        for count in _counts(cpus)
    ]


def _counts(cpus: int) -> Sequence[int]:
    return sorted({count for count in (cpus // 2, 1) if 0 < count < cpus}, reverse=True)
