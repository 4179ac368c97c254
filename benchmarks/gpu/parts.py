"""The parts: which command each runs, and what of its document stands in the table."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.gpu.findings import Finding
from benchmarks.rounds import Ratios

TRIAD_SHARE = 0.92
LEAST_TRIAD_BYTES = 1 << 30
DRAM_WITHIN = 0.02
NO_SLOWER = 0.99
"""A ratio of speeds that is no slower within what two runs of the same differ by."""

Document = dict[str, Any]


class PartFailed(Exception):
    """Why a part found nothing, in one line."""


@dataclass(frozen=True)
class Bench:
    """Where and how large to measure."""

    device: int
    work: Path
    small: bool
    """Sizes and times for a stand-in of a GPU: nothing that it gives is a figure."""
    deadline_s: float
    """Of all parts, by the monotonic clock."""

    def run(self, arguments: Sequence[str], seconds: float) -> str:
        """What a child process prints; it and all it started end with the time."""
        seconds = min(seconds, self.deadline_s - time.monotonic())
        with subprocess.Popen(
            [sys.executable, "-m", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as child:
            try:
                out, errors = child.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                raise PartFailed(f"took longer than {seconds:.0f} s") from None
        if child.returncode != 0:
            said = (errors.strip() or out.strip() or "nothing was said").splitlines()
            raise PartFailed(f"exit code {child.returncode}: {said[-1]}")
        return out

    def measured(self, name: str, budget_s: float, *arguments: str) -> Document:
        """The document of one experiment of memgauge."""
        budget_s = budget_s / 8 if self.small else budget_s
        place = ["--budget", f"{budget_s:.0f}s", "--output", str(self.work / name), "--json"]
        done: Document = json.loads(
            self.run(["memgauge", *arguments, *place], seconds=2 * budget_s + 30)
        )
        return done

    @property
    def memory(self) -> list[str]:
        """As options of memgauge."""
        return ["--memory", f"cuda:{self.device}"]

    def sized(self, size_bytes: int, small_bytes: int) -> int:
        """Of a GPU, or of a stand-in."""
        return small_bytes if self.small else size_bytes


def tests(bench: Bench) -> Iterator[Finding]:
    """Tests that need a GPU. Without the tests' own settings, which ask for more packages."""
    options = ["-q", "--noconftest", "-c", os.devnull, "--import-mode=importlib", "--rootdir=."]
    said = bench.run(["pytest", *options, "-p", "no:cacheprovider", "tests/hardware"], 120)
    yield Finding(
        "tests that need a GPU", said.strip().splitlines()[-1].strip("= "), "pass", met=True
    )


def stream(bench: Bench) -> Iterator[Finding]:
    """Each kernel, and triad against the theoretical bandwidth."""
    array_bytes = bench.sized(2 << 30, 1 << 20)
    requested = ["--array-bytes", str(array_bytes)]
    done = bench.measured("stream", 40, "stream", *bench.memory, *requested)
    yield from (Finding(f"{kernel}", text) for kernel, text in _kernels(done, "double"))
    yield _triad(done)


def device(bench: Bench) -> Iterator[Finding]:
    """What no document says of this GPU and its host, and figures rest on."""
    reported = json.loads(bench.run(["benchmarks.gpu.device", "--device", str(bench.device)], 60))
    yield from (Finding(what, found) for what, found in reported.items())


def search(bench: Bench) -> Iterator[Finding]:
    """Copy and triad at their best, among all variants."""
    requested = ["--array-bytes", str(bench.sized(2 << 30, 1 << 20)), "--autotune"]
    kernels = ["--kernel", "copy,triad"]
    done = bench.measured("search", 45, "stream", *bench.memory, *kernels, *requested)
    yield _triad(done)
    yield from _verdicts(done)


def floats(bench: Bench) -> Iterator[Finding]:
    """The same with elements of 4 bytes."""
    requested = ["--element", "float", "--array-bytes", str(bench.sized(1 << 30, 1 << 20))]
    done = bench.measured("float", 20, "stream", *bench.memory, *requested)
    yield from (Finding(f"{kernel}, float", text) for kernel, text in _kernels(done, "float"))


def copies(bench: Bench) -> Iterator[Finding]:
    """Our copy against the device-to-device copies of others."""
    yield from _compared(bench, "within", bench.sized(1 << 30, 1 << 20))


def pinned(bench: Bench) -> Iterator[Finding]:
    """Our transfers of pinned memory against those of others."""
    for direction in ("host-to-device", "device-to-host"):
        yield from _compared(bench, direction, bench.sized(256 << 20, 1 << 20))


def counters(bench: Bench) -> Iterator[Finding]:
    """Bytes that the DRAM moved against those that the kernel is known to."""
    requested = ["--counters", "auto", "--array-bytes", str(bench.sized(1 << 30, 1 << 20))]
    done = bench.measured("counters", 35, "stream", *bench.memory, *requested)
    found = [one for section in done["sections"] for one in section["hardware"]]
    if not found:
        raise PartFailed(_told(done) or "no counter was read")
    for one in found:
        ratio = _value(one["hardware_to_software"])
        yield Finding(
            f"DRAM bytes / modelled, {one['kernel']}",
            f"{_text(one['hardware_to_software'], '', 4)} (reads "
            f"{_text(one['hardware_to_software_reads'], '', 4)}, writes "
            f"{_text(one['hardware_to_software_writes'], '', 4)})",
            "within 2%",
            None if math.isnan(ratio) else abs(ratio - 1) <= DRAM_WITHIN,
        )


def verify(bench: Bench) -> Iterator[Finding]:
    """What `counters verify` says of each counter."""
    done = bench.measured("verify", 30, "counters", "verify", *bench.memory)
    yield from _verdicts(done)


def mix(bench: Bench) -> Iterator[Finding]:
    """Reads and writes mixed."""
    done = bench.measured("mix", 20, "mix", *bench.memory)
    for point in _points(done):
        yield Finding(point["point"], _text(point["sustained"], "GB/s"))
    yield from _verdicts(done)


def latency(bench: Bench) -> Iterator[Finding]:
    """Of each level."""
    done = bench.measured("latency", 25, "latency", *bench.memory)
    for point in _points(done):
        yield Finding(point["point"], _text(point["sustained"], point["unit"]))


def workingset(bench: Bench) -> Iterator[Finding]:
    """Levels that the curve shows."""
    done = bench.measured("workingset", 25, "workingset", *bench.memory)
    for section in done["sections"]:
        for level in section["levels"]:
            low, high = level["capacity_low_bytes"], level["capacity_high_bytes"]
            claimed = level["claimed_bytes"]
            yield Finding(
                f"{level['name']} found",
                f"{_mib(low)} to {_mib(high)}, {_number(level['latency_ns'])} ns: "
                f"{level['status']}",
                f"{_mib(claimed)} told by the driver" if claimed else "",
            )
    yield from _verdicts(done)


def transfers(bench: Bench) -> Iterator[Finding]:
    """Best bandwidth and half-bandwidth point of each way."""
    requested = ["--largest-bytes", str(bench.sized(256 << 20, 4 << 20))]
    done = bench.measured("transfers", 35, "transfers", *bench.memory, *requested)
    for one in done["transfers"]:
        sizes = {point["bytes"]: point["bandwidth"] for point in one["sizes"]}
        best = one["best_bytes"]
        peer = f", GPU {one['peer']}" if one["peer"] is not None else ""
        model = one.get("model") or {}
        yield Finding(
            f"{one['direction']}, {one['host'] or 'device'}{peer}",
            f"{_text(sizes.get(best), 'GB/s')} at {_mib(best)}; half of the best at "
            f"{_kib(_value(one['half_of_best_bytes']))}; n1/2 of the model "
            f"{_kib(_value(model.get('half_bytes')))}",
        )
    yield from _verdicts(done)


def competition(bench: Bench) -> Iterator[Finding]:
    """What the host's STREAM keeps while transfers go on."""
    requested = ["--a", "dram:dram", "--b", f"cuda:{bench.device}"]
    done = bench.measured("competition", 30, "tiers", *requested)
    for one in done["beside_transfers"]:
        yield Finding(
            f"{one['work']} of the host beside {one['transfer']}, {one['threads']} threads",
            f"host {_text(one['host'], 'GB/s')} ({_text(one['host_keeps'], 'of alone')}), "
            f"transfers {_text(one['transfers'], 'GB/s')} "
            f"({_text(one['transfers_keep'], 'of alone')})",
        )
    yield from _verdicts(done)


def fft3d(bench: Bench) -> Iterator[Finding]:
    """Phases of a transform on the GPU, whose result is checked."""
    place = bench.work / "fft3d"
    size = bench.sized(512, 32)
    requested = [
        "--device",
        "cuda",
        "--size",
        str(size),
        "--repetitions",
        "4",
        "--output",
        str(place),
    ]
    bench.run(["memgauge", "fft3d", *requested], 120)
    done = json.loads(bench.run(["memgauge", "report", str(place), "--format", "json"], 60))
    for step in done["fft3d"]["steps"]:
        for phase in step["phases"]:
            speed = phase.get("expected_bytes_per_s")
            over = "" if speed is None else f", {1e-9 * _value(speed):.2f} GB/s expected / time"
            yield Finding(
                f"{phase['title']} of {step['size']}^3",
                f"{1e3 * phase['median_s']:.2f} ms{over}",
            )
    yield from _verdicts(done)


def profile(bench: Bench) -> Iterator[Finding]:
    """The GPU's tracks on the timeline of a program that uses it."""
    place = bench.work / "profile"
    measured = ["stream", *bench.memory, "--kernel", "triad", "--budget", "6s"]
    program = [sys.executable, "-m", "memgauge", *measured, "--output", str(bench.work / "within")]
    watched = ["--quiet", "--components", "gpu,process", "--output", str(place)]
    bench.run(["memgauge", "profile", *watched, "--", *program], 60)
    done = json.loads(bench.run(["memgauge", "report", str(place), "--format", "json"], 60))
    for track in done["profile"]["tracks"]:
        if track["domain"] == "gpu":
            mean, most = (_in_unit(track[name], track["unit"]) for name in ("mean", "most"))
            yield Finding(track["name"], f"mean {mean}, most {most}")
    for warning in done["warnings"]:
        yield Finding(warning["code"], warning["message"])


PARTS: Mapping[str, Callable[[Bench], Iterator[Finding]]] = {
    "tests": tests,
    "stream": stream,
    "device": device,
    "search": search,
    "copies": copies,
    "counters": counters,
    "transfers": transfers,
    "pinned": pinned,
    "latency": latency,
    "workingset": workingset,
    "verify": verify,
    "mix": mix,
    "fft3d": fft3d,
    "profile": profile,
    "competition": competition,
    "float": floats,
}
"""In the order in which they are run: what matters most comes first, lest time runs out."""


def _kernels(done: Document, element: str) -> Iterator[tuple[str, str]]:
    passes = {
        point["point"]: point["stream"]["best_gb_per_s"]
        for point in _points(done)
        if point["stream"] is not None
    }
    for point in _points(done):
        words = point["point"].split("/")
        if point["role"] != "slice" or element not in words:
            continue
        theoretical = point["actual"].get("theoretical_bytes_per_s")
        value = _value(point["sustained"])
        known = theoretical and not math.isnan(value)
        share = f", {1e9 * value / theoretical:.1%} of peak" if known else ""
        best = passes.get(f"{point['point']}/pass")
        fastest = "" if best is None else f", best pass {best:.1f}"
        text = f"{_text(point['sustained'], 'GB/s')}, median {_number(_value(point['median']))}"
        yield f"{words[1]} {words[2]}", f"{text}{fastest}{share}"


def _triad(done: Document) -> Finding:
    requested = f"at least {TRIAD_SHARE:.0%} on arrays of 1 GiB or more"
    best = max(
        (
            point
            for point in _points(done)
            if point["point"].startswith("stream/triad/")
            and not math.isnan(_value(point["sustained"]))
        ),
        key=lambda point: point["sustained"]["value"],
        default=None,
    )
    theoretical = best and best["actual"].get("theoretical_bytes_per_s")
    if best is None or not theoretical:
        return Finding("triad of theoretical", "not known", requested, met=None if best else False)
    share = 1e9 * best["sustained"]["value"] / theoretical
    array_bytes = best["actual"].get("array_bytes", 0)
    return Finding(
        "triad of theoretical",
        f"{share:.1%} of {theoretical * 1e-9:.0f} GB/s by {best['point']}, arrays of "
        f"{_mib(array_bytes)}",
        requested,
        share >= TRIAD_SHARE and array_bytes >= LEAST_TRIAD_BYTES,
    )


def _compared(bench: Bench, way: str, size_bytes: int) -> Iterator[Finding]:
    rounds = "4" if bench.small else "24"
    requested = ["--way", way, "--bytes", str(size_bytes), "--rounds", rounds]
    device = ["--device", str(bench.device)]
    done = json.loads(bench.run(["benchmarks.gpu.copies", *requested, *device], 60))
    ns: dict[str, list[float]] = done["ns"]
    each = 2 if way == "within" else 1
    for name, taken in ns.items():
        speed = each * size_bytes / median(taken)
        yield Finding(f"{way}, {_mib(size_bytes)}, {name}", f"{speed:.1f} GB/s")
    for name, why in done["missing"].items():
        yield Finding(f"{way}, {name}", f"left out: {why}")
    ours = ns.pop("memgauge", None)
    if ours is None or not ns:
        raise PartFailed(f"{way}: nothing to compare: {done['missing']}")
    best = [min(row) for row in zip(*ns.values(), strict=True)]
    ratios = Ratios([theirs / mine for theirs, mine in zip(best, ours, strict=True)])
    yield Finding(
        f"{way}: speed of memgauge / fastest other of the round",
        ratios.text(),
        "no slower",
        median(ratios.values) >= NO_SLOWER,
    )


def _points(done: Document) -> Iterator[Document]:
    for section in done["sections"]:
        yield from section["points"]


def _verdicts(done: Document) -> Iterator[Finding]:
    for section in done["sections"]:
        for verdict in section["verdicts"]:
            yield Finding(verdict["level"], verdict["text"])


def _told(done: Document) -> str:
    return "; ".join(warning["message"] for warning in done["warnings"][:2])


def _value(figure: Document | None) -> float:
    """NaN: not known."""
    value = None if figure is None else figure["value"]
    return float("nan") if value is None else float(value)


def _text(figure: Document | None, unit: str, digits: int = 2) -> str:
    """With its interval, where it has one."""
    if figure is None or figure["value"] is None:
        return "-"
    low, high = figure["low"], figure["high"]
    spread = "" if low is None or high is None else f" ({low:.{digits}f}..{high:.{digits}f})"
    return f"{figure['value']:.{digits}f}{spread} {unit}".strip()


def _in_unit(value: float | None, unit: str) -> str:
    return "-" if value is None else f"{value:.4g} {unit}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _mib(size_bytes: float | None) -> str:
    return "-" if size_bytes is None else f"{size_bytes / (1 << 20):.4g} MiB"


def _kib(size_bytes: float) -> str:
    return "-" if math.isnan(size_bytes) else f"{size_bytes / 1024:.4g} KiB"
