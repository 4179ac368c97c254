"""`memgauge simulate --by-region`, on a program whose regions have known traffic."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.integration.commands.test_simulate import MIB, SMALL, memgauge, simulates

from memgauge.commands.region import HEADER, found

pytestmark = pytest.mark.native

LIBRARY = Path(__file__).parents[3] / "core" / "region" / "region.c"
SOURCE = """
#include <stdlib.h>
#include "memgauge/region.h"
enum { count = 4 << 17 };
static double *array;
void __attribute__((noinline)) fill(void) {
    for (size_t i = 0; i < count; ++i) ((volatile double *)array)[i] = 1;
}
double __attribute__((noinline)) total(void) {
    double sum = 0;
    for (size_t i = 0; i < count; ++i) sum += ((volatile double *)array)[i];
    return sum;
}
int main(void) {
    double sum = 0;
    array = aligned_alloc(4096, count * sizeof(double));
    memgauge_region_begin("all");
    memgauge_region_begin("fill");
    fill();
    memgauge_region_end("fill");
    for (int i = 0; i < 2; ++i) {
        memgauge_region_begin("sum");
        sum += total();
        memgauge_region_end("sum");
    }
    memgauge_region_end("all");
    return sum == 2.0 * count ? 0 : 3;
}
"""


def simulated(place: Path, *words: str) -> dict[str, Any]:
    (place / "small.toml").write_text(SMALL)
    options = ("--machine", "small.toml", "--by", "function", "--by-region", "--json", "--")
    done = memgauge("simulate", *options, *words, cwd=place)
    assert done.returncode == 0, done.stderr
    program: dict[str, Any] = json.loads(done.stdout)["program"]
    return program


@simulates
def test_each_region_has_its_own_traffic(tmp_path: Path) -> None:
    """4 MiB are filled, then read twice; the last level holds 1 MiB."""
    (tmp_path / "work.c").write_text(SOURCE)
    include = f"-I{found(HEADER).parent.parent}"
    words = ["gcc", "-O1", include, "-o", "work", "work.c", str(LIBRARY)]
    subprocess.run(words, cwd=tmp_path, check=True)
    program = simulated(tmp_path, "./work")
    assert program["no_regions"] is None
    regions = {one["name"]: one for one in program["regions"]}
    assert list(regions) == ["all", "fill", "sum"]
    assert regions["fill"]["read_bytes"] == pytest.approx(4 * MIB, rel=0.02)
    assert 3 * MIB * 0.98 <= regions["fill"]["write_bytes"] <= 4 * MIB * 1.02
    assert regions["sum"]["read_bytes"] == pytest.approx(8 * MIB, rel=0.02)
    # What the cache still held is written when it is read over.
    both = regions["fill"]["write_bytes"] + regions["sum"]["write_bytes"]
    assert both == pytest.approx(4 * MIB, rel=0.02)
    assert [regions[name]["places"][0]["function"] for name in ("fill", "sum")] == ["fill", "total"]
    read = ("load_read_bytes", "allocate_read_bytes", "instruction_read_bytes")
    whole = {
        "read_bytes": sum(program[name] for name in read),
        "write_bytes": program["write_back_bytes"],
    }
    for way, bytes_ in whole.items():
        parts = regions["fill"][way] + regions["sum"][way]
        assert regions["all"][way] == pytest.approx(parts, rel=0.01)
        assert regions["all"][way] <= bytes_ <= regions["all"][way] + MIB


@simulates
def test_marks_without_the_library_are_not_told(tmp_path: Path) -> None:
    script = "echo b 1 $$ $$ 0 work >>$MEMGAUGE_MARKS; echo e 2 $$ $$ 0 work >>$MEMGAUGE_MARKS"
    program = simulated(tmp_path, "sh", "-c", script)
    assert program["regions"] == []
    assert program["no_regions"].startswith("valgrind sees no call that makes its marks")


@simulates
def test_the_trace_engine_knows_no_regions(tmp_path: Path) -> None:
    done = memgauge("simulate", "--engine", "trace", "--by-region", "--", "true", cwd=tmp_path)
    assert done.returncode == 125
    assert "--by-region: the engine trace does not know when a region begins" in done.stderr
