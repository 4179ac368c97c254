"""`fft3d --device cuda` on a made-up CuPy beside a scripted NVML: is power where the FFTs are?"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from tests.unit.counters.nvml.test_back_end import compiled  # noqa: F401  a fixture

from memgauge.analysis.fft3d.section import analyse
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.section import Band, Series
from memgauge.model.storage.run_file import read_run

LACKING = [name for name in ("mpi4py", "numpy") if find_spec(name) is None]

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(
        bool(LACKING), reason=f"{' and '.join(LACKING)} not installed (pip install 'memgauge[mpi]')"
    ),
]

IDLE_W, BUSY_W = 60, 300
CUPY = f"""
import ctypes, sys, time
from contextlib import contextmanager
from tests.unit.fft3d.made_up_cupy import MadeUpCupy

nvml = ctypes.CDLL("libnvidia-ml.so.1")
nvml.fake_set.argtypes = [
    ctypes.c_char_p, ctypes.c_int, ctypes.c_ulonglong, ctypes.c_int, ctypes.c_long
]

def answer(call, value=0):
    nvml.fake_set(call, 0, value, 1, 0)

for call in (b"init", b"shutdown", b"handle", b"fields"):
    answer(call)
answer(b"count", 1)
POWER_INSTANT_MW = b"field186"
answer(POWER_INSTANT_MW, {1000 * IDLE_W})
transforms = 0

@contextmanager
def at_work():
    global transforms
    transforms += 1
    answer(POWER_INSTANT_MW, {1000 * BUSY_W})
    time.sleep(0.5 if transforms > 3 else 0)
    yield
    answer(POWER_INSTANT_MW, {1000 * IDLE_W})

@contextmanager
def at_copy():
    time.sleep(0.4 if transforms >= 3 else 0)
    yield

sys.modules[__name__] = MadeUpCupy(at_work=at_work, at_copy=at_copy)
"""


@pytest.fixture
def environment(tmp_path: Path, compiled: Path) -> dict[str, str]:  # noqa: F811
    libraries, packages = tmp_path / "lib", tmp_path / "packages"
    libraries.mkdir()
    packages.mkdir()
    (libraries / "libnvidia-ml.so.1").symlink_to(compiled)
    (packages / "cupy.py").write_text(CUPY, encoding="utf-8")
    paths = [str(packages), str(Path.cwd()), os.environ.get("PYTHONPATH", "")]
    return os.environ | {
        "LD_LIBRARY_PATH": str(libraries),
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }


def test_power_rises_in_the_ffts_and_not_in_the_copies(
    environment: dict[str, str], tmp_path: Path
) -> None:
    place = tmp_path / "run"
    command = ["fft3d", "--device", "cuda", "--size", "16", "--repetitions", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "memgauge", *command, "--output", str(place)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    run = read_run(place)
    assert run.parameters["fft3d"]["gpus"] == "0: GPU 0, Made-up 0, 0000:3A:00.0"
    section = analyse(figures_of(run))
    charts = {chart.name: chart for chart in section.charts}
    tables: Any = {table.name: table for table in section.tables}
    chart = charts["fft3d-transform"]
    (power,) = [one for one in chart.series if one.name.startswith("GPU power, GPU 0")]
    assert [band.label for band in chart.regions if band.label.startswith(("FFT", "copy"))] == [
        f"{phase} {number}" for number in (1, 2, 3) for phase in ("copy in", "FFT", "copy out")
    ]
    for band in chart.regions:
        if band.label.startswith(("FFT", "copy")):
            known_w = BUSY_W if band.label.startswith("FFT") else IDLE_W
            assert median(in_the_middle(power, band)) == pytest.approx(known_w), band.label
    means_w = {row[0]: row[-1] for row in tables["fft3d-phases"].rows}
    assert means_w["re-sort 1"] is None
    for number in (1, 2, 3):
        assert means_w[f"FFT {number}"] > means_w[f"copy in {number}"] + (BUSY_W - IDLE_W) / 4


def in_the_middle(series: Series, band: Band) -> list[float]:
    """Of its middle half: a reading of ten a second holds until the next."""
    quarter = (band.end - band.start) / 4
    return [
        y
        for x, y in zip(series.x, series.y, strict=True)
        if isinstance(x, float) and band.start + quarter <= x <= band.end - quarter
        if y is not None
    ]
