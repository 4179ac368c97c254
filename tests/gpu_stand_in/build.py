"""Builds the stand-in libraries once for a checkout: xdist's workers and later runs share them."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

HERE = Path(__file__).parent
COMPILER = "g++"
FLAGS = (
    "-std=c++20",
    "-O1",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    "-Wno-subobject-linkage",
)
ROOT = HERE.parents[1]
BUILT = ROOT / "build" / "gpu-stand-in"
"""Within the checkout, since the libraries name files of it: no other checkout is to load them."""
SHIM = f'-DSTAND_IN_SHIM="{HERE / "kernel_shim.hpp"}"'
CORE = ROOT / "core" / "src"
ABIS = (CORE / "counters" / "cupti" / "abi.hpp", CORE / "gpu" / "driver" / "cuda_abi.hpp")
"""CUPTI's is taken from the core: real libraries of CUPTI are asked in its tests too."""

# By the names that programs load them by: sources and further arguments.
LIBRARIES: dict[str, tuple[str, ...]] = {
    "libcuda.so.1": (
        "driver.cpp",
        "device.cpp",
        "stream.cpp",
        "memory.cpp",
        "module.cpp",
        "knobs.cpp",
    ),
    "libnvrtc.so.12": ("nvrtc.cpp", "ptx.cpp", "knobs.cpp", SHIM),
    "libcupti.so.12": ("cupti.cpp", "knobs.cpp", f"-I{CORE}"),
}


def built() -> Path:
    """The directory that holds lib64/ with every library; skips the test without a compiler."""
    if shutil.which(COMPILER) is None:
        pytest.skip("no g++ to build the stand-ins of the CUDA driver and NVRTC with")
    place = BUILT / content_hash()
    place.mkdir(parents=True, exist_ok=True)
    libraries = place / "lib64"
    libraries.mkdir(exist_ok=True)
    with (place / "lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = [name for name in LIBRARIES if not (libraries / name).exists()]
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda name: build(libraries / name), missing))
    return place


def content_hash() -> str:
    """Of all that the libraries are made of, where that is, and what makes them."""
    digest = hashlib.sha256(bytes(HERE))
    for path in (*sorted(HERE.iterdir()), *ABIS):
        if path.suffix in {".cpp", ".hpp", ".h"} or path.name == "build.py":
            digest.update(path.read_bytes())
    version = subprocess.run([COMPILER, "--version"], capture_output=True, check=True)
    digest.update(version.stdout)
    return digest.hexdigest()[:16]


def build(library: Path) -> None:
    """Compile one library as one source: most of the time goes into reading standard headers."""
    given = LIBRARIES[library.name]
    sources = [part for part in given if part.endswith(".cpp")]
    options = [part for part in given if part not in sources]
    half_made = library.with_suffix(".new")
    # Without a soname: a real library that a later test asks for by its name is not to be this one.
    link = "-Wl,-Bsymbolic-functions"
    words = [COMPILER, *FLAGS, f"-I{HERE}", *options, link, "-o", str(half_made)]
    done = subprocess.run(
        [*words, "-x", "c++", "-", "-x", "none", "-lpthread", "-ldl"],
        input="".join(f'#include "{source}"\n' for source in sources),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.fail(f"{library.name} does not build:\n{done.stderr}", pytrace=False)
    half_made.rename(library)


def without(symbols: tuple[str, ...], library: Path) -> None:
    """Rename entry points within a library's file, as if it were too old to have them."""
    content = library.read_bytes()
    for symbol in symbols:
        name = b"\0" + symbol.encode() + b"\0"
        content = content.replace(name, b"\0" + b"_" * len(symbol) + b"\0")
    library.write_bytes(content)
