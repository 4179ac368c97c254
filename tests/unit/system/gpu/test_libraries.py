from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memgauge.model.errors import RequestError
from memgauge.system.gpu import libraries as gpu_libraries
from memgauge.system.gpu.libraries import cupti_file, nvrtc_file, nvrtc_seen


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without any library of CUDA."""
    gpu_libraries._found.cache_clear()
    for variable in ("CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(gpu_libraries, "_installed", lambda: iter(()))
    monkeypatch.setattr(gpu_libraries, "is_loadable", lambda _: False)
    monkeypatch.setattr(gpu_libraries, "import_module", _missing)


def _missing(name: str) -> Any:
    raise ImportError(name)


def put(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return str(path)


def test_what_is_missing_is_one_line_with_what_to_install() -> None:
    with pytest.raises(RequestError) as refused:
        nvrtc_file()
    assert str(refused.value) == (
        "NVRTC, which compiles kernels for a GPU, was not found (libnvrtc.so.13 or "
        "libnvrtc.so.12); pip install 'memgauge[cuda]', or set CUDA_HOME to a CUDA toolkit"
    )
    with pytest.raises(RequestError, match=r"CUPTI.*libcupti\.so\.13 or libcupti\.so\.12"):
        cupti_file()
    assert not nvrtc_seen()


@pytest.mark.parametrize(
    "layout",
    [
        "nvidia/cu13/lib/libnvrtc.so.13",
        "nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
    ],
)
def test_wheels_of_either_layout_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str
) -> None:
    monkeypatch.setattr(sys, "path", ["/nowhere", str(tmp_path)])
    expected = put(tmp_path / layout)
    assert nvrtc_file() == expected
    assert nvrtc_seen()


def test_the_drivers_own_version_is_preferred(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    new = put(tmp_path / "nvidia/cu13/lib/libcupti.so.13")
    old = put(tmp_path / "nvidia/cuda_cupti/lib/libcupti.so.12")
    assert cupti_file("12.8") == old
    assert cupti_file("13.0") == new
    assert cupti_file("14.1") == new
    assert cupti_file() == new


@pytest.mark.parametrize(
    "place", ["lib64", "lib", "extras/CUPTI/lib64", "targets/x86_64-linux/lib"]
)
@pytest.mark.parametrize("variable", ["CUDA_HOME", "CUDA_PATH"])
def test_a_toolkit_that_is_named_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, variable: str
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    put(tmp_path / "nvidia/cu13/lib/libcupti.so.13")
    monkeypatch.setenv(variable, str(tmp_path / "toolkit"))
    expected = put(tmp_path / "toolkit" / place / "libcupti.so.12")
    assert cupti_file("13.0") == expected


def test_a_directory_of_the_loaders_comes_before_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    put(tmp_path / "nvidia/cu13/lib/libnvrtc.so.13")
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/nowhere::{tmp_path / 'mine'}")
    expected = put(tmp_path / "mine/libnvrtc.so.12")
    assert nvrtc_file() == expected


def test_nvidias_own_finder_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(library: str) -> Any:
        if library != "nvrtc":
            raise RuntimeError("no such library")
        return SimpleNamespace(abs_path="/a/libnvrtc.so.13")

    finder = SimpleNamespace(load_nvidia_dynamic_lib=load)
    monkeypatch.setattr(gpu_libraries, "import_module", lambda _: finder)
    assert nvrtc_file() == "/a/libnvrtc.so.13"
    with pytest.raises(RequestError):
        cupti_file()


def test_last_of_all_the_dynamic_loader_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_libraries, "is_loadable", lambda name: name.endswith(".12"))
    assert nvrtc_file("13.0") == "libnvrtc.so.12"
