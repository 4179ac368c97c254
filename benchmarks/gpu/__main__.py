"""Measures a GPU's memory whole, part by part, prints one table, and writes it as a page and JSON.

    benchmarks/gpu/run.sh [--device N] [--parts stream,copies] [--results DIR] [--minutes 8.5]

A part that fails says why and the others go on; what is known so far is on the disk after each.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.gpu.findings import Part, document, file_name, markdown
from benchmarks.gpu.parts import PARTS, Bench, PartFailed
from memgauge.model.errors import MemgaugeError

LEAST_S = 20.0
"""Left for a part to be begun."""


def main() -> int:
    """Parse arguments, measure, print."""
    requested = _arguments()
    names = requested.parts.split(",") if requested.parts else list(PARTS)
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    try:
        machine = _machine(requested.device)
    except (MemgaugeError, PartFailed, ImportError, AttributeError) as error:
        print(f"nothing is measured: {error}", file=sys.stderr)
        return 2
    if requested.small:
        machine["note"] = "tried at a small size: no figure here means anything"
    deadline_s = time.monotonic() + 60 * requested.minutes
    results = Path(requested.results)
    results.mkdir(parents=True, exist_ok=True)
    parts: list[Part] = []
    with tempfile.TemporaryDirectory(prefix="memgauge-gpu-") as made:
        work = Path(requested.runs) if requested.runs else Path(made)
        work.mkdir(parents=True, exist_ok=True)
        bench = Bench(
            device=requested.device, work=work, small=requested.small, deadline_s=deadline_s
        )
        for name in names:
            parts.append(_part(name, bench, deadline_s))
            _write(results, machine, parts)
    print(markdown(machine, parts))
    print(f"written: {results / file_name(machine['gpu'])}.md and .json", file=sys.stderr)
    missed = any(one.met is False for part in parts for one in part.findings)
    return 1 if missed or any(part.error for part in parts) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/gpu/run.sh", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("--device", type=int, default=0, help="as the driver numbers them")
    parser.add_argument("--parts", help=f"those to run, of {', '.join(PARTS)}")
    parser.add_argument("--results", default="docs/results", help="directory of the page and JSON")
    parser.add_argument("--runs", help="directory to keep the runs of memgauge in")
    parser.add_argument("--minutes", type=float, default=8.5, help="after which every part ends")
    parser.add_argument("--small", action="store_true", help="to try the script on a stand-in")
    return parser.parse_args()


def _machine(device: int) -> dict[str, Any]:
    """The GPU and what drives it; raises where there is none."""
    from memgauge import _core
    from memgauge.model.memory import on_gpu
    from memgauge.system.gpu.driver import opened_gpu

    driver = _core.GpuDriver()
    if device >= len(driver.devices):
        raise PartFailed(f"the driver shows {len(driver.devices)} GPUs, and no GPU {device}")
    facts = driver.devices[device]
    gpu = opened_gpu(on_gpu(device))
    gib = 1 << 30
    clock_khz, bits = facts.memory_clock_khz, facts.bus_bits
    return {
        "gpu": facts.name,
        "measured": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "compute capability": facts.compute,
        "multiprocessors": facts.multiprocessors,
        "memory": f"{facts.memory_bytes / gib:.1f} GiB, {gpu.free_bytes / gib:.1f} free",
        "L2": None if facts.l2_bytes is None else f"{facts.l2_bytes / (1 << 20):.4g} MiB",
        "memory clock": None if clock_khz is None else f"{clock_khz / 1000:.0f} MHz, {bits} bits",
        "ECC": facts.ecc,
        "MIG": facts.mig,
        "CUDA of the driver": driver.version,
        "compiler": f"NVRTC {gpu.compiler_version}",
        "GPUs": len(driver.devices),
    }


def _part(name: str, bench: Bench, deadline_s: float) -> Part:
    part = Part(name)
    begin_s = time.monotonic()
    if deadline_s - begin_s < LEAST_S:
        part.error = "left out: the time was used up"
        return part
    print(f"{name} ...", file=sys.stderr, flush=True)
    try:
        for finding in PARTS[name](bench):
            part.findings.append(finding)
        if not part.findings:
            part.error = "it ran and told nothing"
    except PartFailed as error:
        part.error = str(error)
    except Exception as error:  # noqa: BLE001 - no part may take the others along
        part.error = f"{type(error).__name__}: {error}"
    part.seconds = time.monotonic() - begin_s
    said = part.error or f"{len(part.findings)} findings"
    print(f"{name}: {part.seconds:.0f} s, {said}", file=sys.stderr, flush=True)
    return part


def _write(results: Path, machine: dict[str, Any], parts: list[Part]) -> None:
    place = results / file_name(machine["gpu"])
    place.with_suffix(".md").write_text(markdown(machine, parts), encoding="utf-8")
    text = json.dumps(document(machine, parts), indent=1)
    place.with_suffix(".json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
