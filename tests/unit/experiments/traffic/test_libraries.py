"""BLAS libraries beside loop nests: which can be used, what they compute, how they are named."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("memgauge._core")

from tests.fuzz.invariants import check_refusal
from tests.unit.experiments.machines import a_machine
from tests.unit.experiments.traffic.test_host import requested, small_caches

from memgauge import _core
from memgauge.experiments.traffic.host import Traffic
from memgauge.experiments.traffic.parameters import TrafficParameters
from memgauge.model.errors import RequestError
from memgauge.model.parameters import build
from memgauge.model.points.traffic import TrafficActual, TrafficRequested, library_label

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (apt-get install gcc)"),
]

SOURCE = r"""
#include <pthread.h>
#include <unistd.h>
typedef INTEGER integer;
static void *rest(void *unused) { for (;;) pause(); return unused; }
void GEMM(const char *ta, const char *tb, const integer *m, const integer *n, const integer *k,
          const double *alpha, const double *a, const integer *lda, const double *b,
          const integer *ldb, const double *beta, double *c, const integer *ldc) {
    static int started;
    pthread_t thread;
    if (STARTS && !started++) pthread_create(&thread, 0, rest, 0);
    for (integer j = 0; j < *n; ++j)
        for (integer i = 0; i < *m; ++i) {
            double sum = OFF;
            for (integer l = 0; l < *k; ++l) sum += a[i + l * *lda] * b[l + j * *ldb];
            c[i + j * *ldc] = *alpha * sum + (*beta == 0 ? 0 : *beta * c[i + j * *ldc]);
        }
}
void GEMV(const char *t, const integer *m, const integer *n, const double *alpha, const double *a,
          const integer *lda, const double *x, const integer *ix, const double *beta, double *y,
          const integer *iy) {
    for (integer j = 0; j < *n; ++j) {
        double sum = 0;
        for (integer i = 0; i < *m; ++i) sum += a[i + j * *lda] * x[i * *ix];
        y[j * *iy] = *alpha * sum;
    }
}
char *openblas_get_config(void) { return "OpenBLAS made up\n"; }
static int threads = 8;
void openblas_set_num_threads(int n) { if (!KEEPS) threads = n; }
int openblas_get_num_threads(void) { return threads; }
"""

USUAL = {
    "INTEGER": "int",
    "GEMM": "dgemm_",
    "GEMV": "dgemv_",
    "STARTS": "0",
    "OFF": "0",
    "KEEPS": "0",
}


def library(directory: Path, name: str = "libmade.so.1", **changes: str) -> Path:
    """A BLAS of one's own, with something about it changed."""
    file = directory / name
    defined = [f"-D{name}={value}" for name, value in (USUAL | changes).items()]
    command = ["cc", "-shared", "-fPIC", "-O1", *defined, "-x", "c", "-", "-o", str(file)]
    subprocess.run(
        [*command, "-lpthread"], input=SOURCE, check=True, text=True, capture_output=True
    )
    return file


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"INTEGER": "long long", "GEMM": "dgemm_64_", "GEMV": "dgemv_64_"},
        {"INTEGER": "long long"},
        {"GEMM": "scipy_dgemm_", "GEMV": "scipy_dgemv_"},
        {"GEMM": "dgemm", "GEMV": "dgemv"},
    ],
    ids=["usual", "64 bits, by suffix", "64 bits, by nothing", "of a wheel", "without underscore"],
)
def test_what_a_library_computes_is_what_the_nest_does(
    tmp_path: Path, changes: dict[str, str]
) -> None:
    blas = _core.Blas(str(library(tmp_path, **changes)))
    assert (blas.vendor, blas.version, blas.threads) == ("OpenBLAS", "OpenBLAS made up", 1)
    assert blas.file == str(tmp_path / "libmade.so.1")
    team = _core.Team([min(os.sched_getaffinity(0))])
    for spec in (
        _core.NestSpec("gemm", n=1),
        _core.NestSpec("gemm", n=37),
        _core.NestSpec("gemv", m=50, n=7, cap=20),
        _core.NestSpec("gemv", m=3, n=64),
    ):
        nest = _core.LoopNest(team, spec, 2, blas=blas)
        nest.run(3)
        (validation,) = nest.validate()
        assert validation.passed
        nest.close()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"GEMM": "other"}, "it has no dgemm and dgemv"),
        ({"OFF": "1"}, "its dgemm computes something else"),
        ({"STARTS": "1"}, "it starts 1 thread of its own"),
        ({"KEEPS": "1"}, "it stays at 8 threads when asked for one"),
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path: Path, changes: dict[str, str], says: str) -> None:
    file = library(tmp_path, **changes)
    with pytest.raises(RequestError, match=says) as refused:
        _core.Blas(str(file))
    assert str(file) in str(refused.value)


def test_what_cannot_be_loaded_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "libtext.so").write_text("no library")
    for name, says in {
        "openbals": "unknown BLAS library 'openbals'; choose among openblas, mkl, ",
        str(tmp_path / "libgone.so"): "cannot open shared object file",
        str(tmp_path / "libtext.so"): "give the path of a shared library for this machine",
        "libnowhere.so.7": "libnowhere.so.7: cannot open shared object file",
    }.items():
        with pytest.raises(RequestError, match=r"BLAS library") as refused:
            _core.Blas(name)
        assert says in str(refused.value)


@pytest.mark.parametrize("name", ["x" * 5000, f"/{'x' * 5000}.so", f"{'x/' * 2500}libx.so"])
def test_refusals_do_not_repeat_long_names(name: str) -> None:
    with pytest.raises(RequestError, match=r"BLAS library '?[x/]{390,}\.\.\.") as refused:
        Traffic().plan(requested("gemm", sizes="16", blas=name), a_machine(2))
    check_refusal(refused.value)
    assert len(str(refused.value)) < 1200


def test_variables_of_threads_are_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    _core.Blas(str(library(tmp_path)))
    seen = subprocess.run(["env"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert "OMP_NUM_THREADS=7" in seen
    assert not [line for line in seen if line.startswith("OPENBLAS_NUM_THREADS=")]


def test_a_library_does_gemv_and_gemm_only(tmp_path: Path) -> None:
    blas = _core.Blas(str(library(tmp_path)))
    with pytest.raises(RequestError, match="a BLAS library does gemv and gemm"):
        _core.LoopNest(_core.Team([0]), _core.NestSpec("copy", n=8), 1, blas=blas)


def test_each_library_is_measured_beside_the_nest(tmp_path: Path) -> None:
    file = library(tmp_path)
    parameters = requested("gemm", sizes="16,24", threads="1,2", blas=str(file))
    groups = Traffic().plan(parameters, a_machine(8))
    assert [group.name for group in groups] == [
        "1 thread",
        "1 thread, made",
        "2 threads",
        "2 threads, made",
    ]
    assert [point.point for point in groups[1].points] == [
        "traffic/gemm/16/1t/made",
        "traffic/gemm/24/1t/made",
    ]
    actual = TrafficActual.of(groups[1].points[0].actual)
    assert (actual.blas_version, actual.blas_file) == ("OpenBLAS made up", str(file))
    assert actual.blas_threads == 1
    assert TrafficRequested.of(groups[1].points[0].requested).blas == "made"
    assert TrafficActual.of(groups[0].points[0].actual).blas_file == ""


def test_a_library_is_executed_and_not_simulated(tmp_path: Path) -> None:
    parameters = requested("gemv", sizes="16", counters="none", blas=str(library(tmp_path)))
    experiment, system = Traffic(), small_caches()
    groups = experiment.plan(parameters, system)
    with experiment.open(groups[1], parameters) as bench:
        (sample,) = bench.measure("traffic/gemv/16/1t/made", 1)[:1]
        assert sample.threads[0].end_ns[0] > sample.threads[0].begin_ns[0]
        assert all(check.passed for one in bench.validate() for check in one.checks)
    points = [point for group in groups for point in group.points]
    simulated = list(experiment.simulate(points, parameters, system))
    assert {getattr(one, "point", None) for one in simulated} - {None} == {"traffic/gemv/16/1t"}


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("openblas", "openblas"),
        ("/opt/lib/libblis-mt.so.4", "blis-mt"),
        ("libmkl_rt.so.2", "mkl_rt"),
        ("./mine", "mine"),
        ("/x/libopenblasp-r0.3.21.so", "openblasp-r0.3.21"),
    ],
)
def test_a_library_is_called_by_its_name(name: str, label: str) -> None:
    assert library_label(name) == label


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"kernel": "triad", "blas": "openblas"}, "--blas: is an option of gemv and gemm"),
        ({"blas": "openblas", "simulate_only": True}, "nothing is run with --simulate-only"),
        ({"blas": "openblas", "store_prefetch": True}, "--blas, --store-prefetch"),
    ],
)
def test_what_has_no_meaning_together_is_refused(options: dict[str, object], says: str) -> None:
    with pytest.raises(RequestError, match=says):
        build(TrafficParameters, **options).check()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("openblas,,mkl", "names no library"),
        ("/a/libblis.so,/b/libblis.so.4", "two libraries that would both be called blis"),
        ("2\x1b", r"^--blas '2': a library's name must not contain control characters$"),
        ("openblas,/a/\x1b[31mlib\u202e.so", "'openblas,/a/lib.so': a library's name must not"),
        ("/a/lib\udcff.so", "'/a/lib.so': a library's name must not"),
    ],
)
def test_lists_of_libraries_are_checked(text: str, says: str) -> None:
    with pytest.raises(RequestError, match=says):
        build(TrafficParameters, blas=text)
