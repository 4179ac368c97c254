"""What no document says of a GPU and its host, and figures rest on; one JSON object of texts.

python -m benchmarks.gpu.device [--device N]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from statistics import median

from memgauge import _core
from memgauge.model.errors import MemgaugeError
from memgauge.model.memory import on_gpu
from memgauge.system.gpu.driver import opened_gpu
from memgauge.system.gpu.libraries import cupti_file

LAUNCHES = 200
HELD_COPIES = 200


def launches(gpu: _core.Gpu) -> str:
    """Stamps of a kernel that has nothing to do: what an event and a launch add to any stamp."""
    arrays = _core.GpuStreamArrays(gpu, 32)
    spec = _core.GpuKernelSpec("copy")
    arrays.run(spec)
    begin_ns = time.monotonic_ns()
    (thread,) = arrays.run(spec, iterations=LAUNCHES).threads
    host_ns = (time.monotonic_ns() - begin_ns) / LAUNCHES
    taken = [end - begin for begin, end in zip(thread.begin_ns, thread.end_ns, strict=True)]
    arrays.close()
    return (
        f"{taken[0]} ns the first, then median {median(taken):.0f}, most {max(taken)}; "
        f"{host_ns:.0f} ns of the host each"
    )


def held_copies(gpu: _core.Gpu) -> str:
    """Whether copies that are queued while a kernel holds the GPU follow each other."""
    transfers = _core.GpuTransfers(gpu, 1 << 20)
    (thread,) = transfers.run("host-to-device", 1024, iterations=HELD_COPIES).threads
    slower = transfers.host_was_slower
    taken = [end - begin for begin, end in zip(thread.begin_ns, thread.end_ns, strict=True)]
    transfers.close()
    return f"median {median(taken):.0f} ns, most {max(taken)}; host was slower: {slower}"


def ring(gpu: _core.Gpu) -> str:
    """The timer's step, the clock, and how long a ring as large as in `latency` is made for."""
    begin_ns = time.monotonic_ns()
    chase = _core.GpuChase(gpu, 6 * (gpu.facts.l2_bytes or 64 << 20), 256, through="l2")
    made_ms = (time.monotonic_ns() - begin_ns) / 1e6
    first, second = (chase.run(2000, warm_hops=200) for _ in range(2))
    per_hop = [cycles / 2000 for walk in (first, second) for cycles in walk.cycles]
    chase.close()
    clock = "not known" if second.cycles_per_ns is None else f"{second.cycles_per_ns:.3f}"
    return (
        f"{second.timer_resolution_ns} ns; {clock} cycles each ns; {per_hop[0]:.0f} and "
        f"{per_hop[1]:.0f} cycles a load of the first two walks; ring made in {made_ms:.0f} ms"
    )


def counters(device: int) -> Iterator[tuple[str, str]]:
    """What CUPTI says of each way to count, and a whole reading of each."""
    library = _core.CuptiLibrary(cupti_file(_core.GpuDriver().version))
    (found,) = (one for one in library.devices() if one.index == device)
    yield "CUPTI", f"version {library.version}, chip {found.chip}"
    names = ["dram__bytes_read.sum", "dram__bytes_write.sum"]
    for way, error in (("range", found.range_error), ("sampling", found.sampling_error)):
        yield f"CUPTI, {way}", error or _reading(library, device, names, way)


def _reading(library: _core.CuptiLibrary, device: int, names: list[str], way: str) -> str:
    source: _core.CuptiRangeSource | _core.CuptiSamplingSource
    try:
        if way == "range":
            source = _core.CuptiRangeSource(library, device, names)
        else:
            source = _core.CuptiSamplingSource(library, device, names, 2_000_000, 2_000_000_000)
    except MemgaugeError as error:
        return str(error)
    reader = _core.Reader([source])
    reader.read()
    time.sleep(0.1)
    begin_ns = time.monotonic_ns()
    values = list(reader.read().values)
    took_us = (time.monotonic_ns() - begin_ns) / 1e3
    source.close()
    said = f"; {source.error}" if source.error else ""
    return f"read in {took_us:.0f} us, after 0.1 s of rest: {values}{said}"


def main() -> None:
    """Print all; a fact that cannot be had says why."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--device", type=int, default=0)
    device: int = parser.parse_args().device
    gpu = opened_gpu(on_gpu(device))
    known: dict[str, str] = {}
    facts = {"empty launches": launches, "copies of 1 KiB, queued": held_copies, "timer": ring}
    for name, fact in facts.items():
        try:
            known[name] = fact(gpu)
        except MemgaugeError as error:
            known[name] = str(error)
    known["stamps on the host's clock"] = f"within {gpu.clock_error_ns} ns"
    try:
        known |= dict(counters(device))
    except MemgaugeError as error:
        known["CUPTI"] = str(error)
    json.dump(known, sys.stdout)


if __name__ == "__main__":
    main()
