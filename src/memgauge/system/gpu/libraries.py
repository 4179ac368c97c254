"""Where the CUDA libraries are that the native core loads: the driver, NVRTC and CUPTI.

NVRTC and CUPTI come with a CUDA toolkit or as packages of Python; the driver's library comes with
the driver alone. Nothing is loaded here, except where only the dynamic loader can find a library.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from memgauge.model.errors import RequestError
from memgauge.system.loader import is_loadable

DRIVER = "libcuda.so.1"
INSTALL = "pip install 'memgauge[cuda]', or set CUDA_HOME to a CUDA toolkit"

_MAJORS = (13, 12)
"""Versions of CUDA whose libraries are known, newest first."""
_TARGETS = {"aarch64": "sbsa-linux", "x86_64": "x86_64-linux", "ppc64le": "ppc64le-linux"}
"""Directories of a toolkit that hold one architecture's libraries."""

_MULTIARCH = {"ppc64le": "powerpc64le"}
"""Debian's name of an architecture where it differs."""


def cuda_driver_file() -> str:
    """The driver's own library: the dynamic loader knows it, and no other one fits the driver."""
    return DRIVER


def nvrtc_file(driver: str = "") -> str:
    """NVRTC, which compiles kernels for the device at hand.

    Args:
        driver: the CUDA version that the driver runs, such as 12.8; a library of the same major
            version is preferred.

    Returns:
        A path, or a name that the dynamic loader finds.

    Raises:
        RequestError: it is not installed; the message states what to install.
    """
    return _file("nvrtc", "NVRTC, which compiles kernels for a GPU,", driver)


def nvrtc_seen() -> bool:
    """Whether NVRTC lies where it is looked for; nothing is loaded to find out."""
    named = [place / name for place in _named_by_environment() for name in _names("nvrtc", "")]
    return any(file.is_file() for file in [*named, *_lying("nvrtc", "")])


def cupti_file(driver: str = "") -> str:
    """CUPTI, which reads a GPU's counters; as `nvrtc_file`.

    Raises:
        RequestError: it is not installed; the message states what to install.
    """
    return _file("cupti", "CUPTI, which reads a GPU's counters,", driver)


def _file(library: str, what: str, driver: str) -> str:
    found = _found(library, driver)
    if found is None:
        names = " or ".join(_names(library, driver))
        raise RequestError(f"{what} was not found ({names}); {INSTALL}")
    return found


@cache
def _found(library: str, driver: str) -> str | None:
    """Candidate files: those that the environment names, then the usual places of each version."""
    names = _names(library, driver)
    chosen = [place / name for place in _named_by_environment() for name in names]
    path = next((file for file in chosen if file.is_file()), None)
    return (
        (str(path) if path else None)
        or _by_pathfinder(library)
        or next((str(file) for file in _lying(library, driver) if file.is_file()), None)
        or next((name for name in names if is_loadable(name)), None)
    )


def _lying(library: str, driver: str) -> list[Path]:
    """Other places where the library may be, for each version in turn."""
    places = [*_of_packages(library), *_installed()]
    return [place / name for name in _names(library, driver) for place in places]


def _names(library: str, driver: str) -> list[str]:
    """Versions in order of preference: the driver's own major version first."""
    major = driver.partition(".")[0]
    majors = sorted(_MAJORS, key=lambda known: str(known) != major)
    return [f"lib{library}.so.{major}" for major in majors]


def _named_by_environment() -> Iterator[Path]:
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        home = os.environ.get(variable, "")
        if home.startswith("/"):
            yield from _of_toolkit(Path(home))
    for directory in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        if directory.startswith("/"):  # an empty or relative one means the working directory
            yield Path(directory)


def _of_toolkit(home: Path) -> Iterator[Path]:
    target = home / "targets" / _TARGETS.get(platform.machine(), "") / "lib"
    yield from (home / "lib64", home / "lib", target, home / "extras" / "CUPTI" / "lib64")


def _by_pathfinder(library: str) -> str | None:
    """The result of NVIDIA's own library finder, if it is installed."""
    try:
        finder = import_module("cuda.pathfinder")
        path = finder.load_nvidia_dynamic_lib(library).abs_path
    except (ImportError, AttributeError, OSError, RuntimeError, ValueError):
        return None
    return path if isinstance(path, str) and path else None


def _of_packages(library: str) -> Iterator[Path]:
    """Directories of NVIDIA's wheels: one for all libraries from CUDA 13 on, one each before."""
    for entry in (Path(entry) for entry in sys.path if entry.startswith("/")):
        for major in _MAJORS:
            yield entry / "nvidia" / f"cu{major}" / "lib"
        yield entry / "nvidia" / f"cuda_{library}" / "lib"


def _installed() -> Iterator[Path]:
    yield Path(sys.prefix) / "lib"
    machine = platform.machine()
    yield from (Path("/usr/lib64"), Path(f"/usr/lib/{_MULTIARCH.get(machine, machine)}-linux-gnu"))
    for home in [Path("/usr/local/cuda"), *sorted(Path("/usr/local").glob("cuda-*"), reverse=True)]:
        yield from _of_toolkit(home)
