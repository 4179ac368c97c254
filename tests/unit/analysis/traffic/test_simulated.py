"""The study's conclusions, found by the analysis in what the cache model counts.

The machines are the POWER9 ones at a sixteenth of their caches, so that whole nests are simulated
at once: every N of the study is a quarter of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.unit.analysis.runs import start, system

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.section import Verdict
from memgauge.analysis.traffic.departures import Departure, departures, place
from memgauge.analysis.traffic.figures import Curve, curves_of
from memgauge.analysis.traffic.section import analyse
from memgauge.model.cache_machine import CacheMachine
from memgauge.model.records import AnyRecord
from memgauge.model.run import Run, run_of

pytestmark = pytest.mark.native
SMALLER = 16


def smaller(machine: CacheMachine) -> CacheMachine:
    """With a sixteenth of the sets of each level."""
    levels = [
        msgspec.structs.replace(level, bytes=level.bytes // SMALLER) for level in machine.levels
    ]
    return msgspec.structs.replace(machine, name=f"small-{machine.name}", levels=levels)


def toml(machine: CacheMachine, path: Path) -> str:
    """A user's own machine, of the fields that have no default."""
    streams = machine.store_streams
    lines = [
        f'name = "{machine.name}"',
        'title = "for tests"',
        'source = "test"',
        f"line_bytes = {machine.line_bytes}",
        f"sector_bytes = {machine.sector_bytes}",
        f"machine_cores = {machine.machine_cores}",
        "[store_streams]",
        f"lines = {streams.lines}",
    ]
    for level in machine.levels:
        lines += [
            "[[levels]]",
            f'name = "{level.name}"',
            f"bytes = {level.bytes}",
            f"ways = {level.ways}",
            f"cores = {level.cores}",
            f"borrows_idle = {str(level.borrows_idle).lower()}",
        ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def simulated(
    kernel: str,
    sizes: str,
    name: str,
    tmp_path: Path,
    line_bytes: int | None = None,
    **changes: object,
) -> Run:
    """One kernel on a small machine, by the experiment itself."""
    from memgauge.experiments.traffic.host import Traffic
    from memgauge.experiments.traffic.parameters import TrafficParameters
    from memgauge.machines.library import load
    from memgauge.model.parameters import build

    machine = smaller(load(name))
    if line_bytes is not None:
        machine = msgspec.structs.replace(machine, line_bytes=line_bytes)
    file = toml(machine, tmp_path / f"{machine.name}.toml")
    requested = {"kernel": kernel, "sizes": sizes, "machine": file, "simulate_only": True}
    parameters = build(TrafficParameters, **(requested | changes))
    here, traffic = system(), Traffic()
    points = [point for group in traffic.plan(parameters, here) for point in group.points]

    def records() -> Iterator[AnyRecord]:
        yield msgspec.structs.replace(start(here), experiments=["traffic"], parameters={})
        yield from points
        yield from traffic.simulate(points, parameters, here)

    return run_of(records())


def only(run: Run) -> tuple[Curve, str]:
    (curve,) = curves_of(figures_of(run))
    (source,) = curve.sources
    return curve, source


def reads(run: Run) -> list[Departure]:
    return [one for one in departures(*only(run)) if one.direction == "reads"]


def verdict(run: Run) -> Verdict:
    (found,) = [one for one in analyse(figures_of(run)).verdicts if "Simulated on" in one.text]
    return found


def each(run: Run, way: str = "reads") -> list[float]:
    """Elements moved for each of the result, by size."""
    curve, source = only(run)
    return [result.per_element(result.moved(source, way) or 0) for result in curve.results]  # type: ignore[arg-type]


def test_batched_gemm_departs_as_caching_ends(tmp_path: Path) -> None:
    run = simulated("gemm", "72,132,180,204,212", "power9-5mb", tmp_path)
    curve, source = only(run)
    band = curve.band(source)
    assert band is not None
    assert (band.all_fit, band.one_fits) == (116, 202)
    (found,) = reads(run)
    assert place(found, (band.all_fit, band.one_fits)) == "inside"
    assert found.most_ratio > 50
    said = verdict(run)
    assert said.level == "good"
    assert "as caching ends (at N = 116 to 202)" in said.text
    assert "212 times at N = 212" in said.text
    assert each(run)[:3] == pytest.approx([3.0, 3.0, 3.0], abs=0.02)


def test_gemm_of_one_core_that_borrows_does_not_depart(tmp_path: Path) -> None:
    run = simulated("gemm", "72,132,204", "power9-110mb", tmp_path)
    assert reads(run) == []
    said = verdict(run)
    assert said.level == "good"
    assert "Slices of 21 idle cores hold what its own 640 KiB do not" not in said.text
    assert each(run) == pytest.approx([3.0] * 3, abs=0.02)


def test_slices_that_are_borrowed_are_named(tmp_path: Path) -> None:
    """Past what the pair's own slice would hold."""
    run = simulated("gemm", "292", "power9-110mb", tmp_path)
    assert "Slices of 21 idle cores hold what its own 640 KiB do not" in verdict(run).text


def test_the_second_nest_of_s1cf_reads_up_to_five_past_its_threshold(tmp_path: Path) -> None:
    """It does so from a smaller size on: halves of 128-byte lines take the place of whole ones."""
    run = simulated("s1cf-second", "100,116,148,212,244", "power9-5mb", tmp_path)
    curve, source = only(run)
    band, lines = curve.band(source), curve.band_of_lines(source)
    assert band is not None
    assert lines is not None
    assert (band.all_fit, band.one_fits) == (181, 202)  # a quarter of 724 and 809
    assert (lines.all_fit, lines.one_fits) == (134, 143)
    (found,) = reads(run)
    assert (found.before, found.first) == (116, 148)
    assert each(run)[:2] == pytest.approx([2.0] * 2, abs=0.1)
    assert each(run)[-2:] == pytest.approx([5.0] * 2, abs=0.1)
    said = verdict(run)
    assert said.level == "note"
    assert "up to what the closed form has past the caches" in said.text
    assert "each piece of 64 B takes the place of a line of 128 B" in said.text
    assert "did it not, caching would end at N = 181 to 202" in said.text
    assert "64 B are read for each element of 16 B" in said.text


def test_with_lines_of_64_bytes_it_departs_where_the_study_has_it(tmp_path: Path) -> None:
    run = simulated("s1cf-second", "132,164,208", "power9-5mb", tmp_path, line_bytes=64)
    (found,) = reads(run)
    assert (found.before, found.first) == (164, 208)
    said = verdict(run)
    assert said.level == "good"
    assert "as caching ends (at N = 181 to 202)" in said.text


def test_stores_in_strides_take_two_reads_a_write(tmp_path: Path) -> None:
    run = simulated("s1cf", "60,100,140", "power9-5mb", tmp_path)
    assert each(run) == pytest.approx([2.0] * 3, rel=0.05)
    assert each(run, "writes") == pytest.approx([1.0] * 3, rel=0.05)
    said = verdict(run).text
    assert "Each line is read before it is stored (write-allocate, 1.0" in said


@pytest.mark.parametrize("kernel", ["s2cf", "s1cf-first"])
def test_stores_in_order_bypass_the_caches(kernel: str, tmp_path: Path) -> None:
    run = simulated(kernel, "96,160", "power9-5mb", tmp_path)
    assert each(run) == pytest.approx([1.0] * 2, abs=0.05)
    assert each(run, "writes") == pytest.approx([1.0] * 2, abs=0.05)
    said = verdict(run)
    assert said.level == "good"
    assert "as the closed form has it where stores bypass the caches" in said.text
    assert "Stores bypass the caches (" in said.text


@pytest.mark.parametrize("kernel", ["s2cf", "s1cf-first"])
def test_prefetched_stores_take_two_reads(kernel: str, tmp_path: Path) -> None:
    run = simulated(kernel, "96,160", "power9-5mb", tmp_path, store_prefetch="true")
    assert each(run) == pytest.approx([2.0] * 2, abs=0.05)
    assert "The software prefetch reads the lines that are stored next" in verdict(run).text
