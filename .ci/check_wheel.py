"""Check what `python -m build` left: python .ci/check_wheel.py dist.

The source archive holds all that the build needs; the wheel holds no C++ source, links nothing
beyond the C and C++ run time, passes auditwheel without a library grafted in, and imports.
"""

import os
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from io import BytesIO
from pathlib import Path

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

ALLOWED_LIBRARIES = ("libc.so.", "libm.so.", "libstdc++.so.", "libgcc_s.so.", "ld-linux", "ld64.so")
REQUIRED_IN_WHEEL = (
    "memgauge/__init__.py",
    "memgauge/_core.pyi",
    "memgauge/include/memgauge/region.h",
    "memgauge/lib/libmemgauge_preload.so",
    "memgauge/lib/libmemgauge_region.a",
    "memgauge/lib/libmemgauge_region.so",
    "memgauge/py.typed",
    "memgauge/references/data/nvdimm.csv",
    "memgauge/references/data/nvdimm.toml",
    "memgauge/reports/assets/chart_libraries.txt",
    "memgauge/reports/assets/vega.js",
)
OBJECTS = [
    "memgauge/_core",
    "memgauge/lib/libmemgauge_preload",
    "memgauge/lib/libmemgauge_region",
]
SOURCE_SUFFIXES = (".cpp", ".hpp", ".c", ".h", ".cmake", ".a")
BUILD_INPUTS = (
    "CMakeLists.txt",
    "LICENSE",
    "pyproject.toml",
    "core",
    "bindings",
    "cmake",
    "src",
    "docs/man",
)
MAN_PAGE = ".data/data/share/man/man1/memgauge.1"

SMOKE = """
import pathlib, sys, memgauge._core as core
assert pathlib.Path(core.__file__).is_relative_to(sys.argv[1]), core.__file__
assert core.supported_isas()[-1] == "generic"
"""


def only(paths: list[Path]) -> Path:
    """The one path there is."""
    if len(paths) != 1:
        sys.exit(f"check_wheel: expected one file, found {[path.name for path in paths]}")
    return paths[0]


def build_inputs() -> set[str]:
    """Files of the tree that the build reads."""
    paths = (Path(name) for name in BUILD_INPUTS)
    files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*"))]
    made = {"__pycache__", "_core.pyi"}
    return {str(file) for file in files if file.is_file() and made.isdisjoint(file.parts)}


def missing_from(sdist: Path) -> set[str]:
    """The build's inputs that the archive lacks."""
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    return build_inputs() - held


def faults_in(wheel: Path) -> list[str]:
    """What is in the wheel and should not be, or the other way about."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        objects = {name: archive.read(name) for name in names if name.endswith(".so")}
    faults = [f"lacks {name}" for name in REQUIRED_IN_WHEEL if name not in names]
    if not any(name.endswith(MAN_PAGE) for name in names):
        faults.append(f"lacks {MAN_PAGE}")
    faults += [
        f"holds the source {name}"
        for name in names
        if name.endswith(SOURCE_SUFFIXES) and name not in REQUIRED_IN_WHEEL
    ]
    if sorted(name.split(".")[0] for name in objects) != OBJECTS:
        faults.append(f"should hold the core and the libraries for programs: {sorted(objects)}")
    for name, content in objects.items():
        libraries = needed_libraries(content)
        faults += [f"{name} links {x}" for x in libraries if not x.startswith(ALLOWED_LIBRARIES)]
    return faults


def needed_libraries(content: bytes) -> list[str]:
    """The shared libraries an ELF object asks the loader for."""
    dynamic = ELFFile(BytesIO(content)).get_section_by_name(".dynamic")
    if not isinstance(dynamic, DynamicSection):
        return []
    return [str(vars(tag)["needed"]) for tag in dynamic.iter_tags("DT_NEEDED")]


def repair(wheel: Path, folder: Path) -> Path:
    """The wheel with the platform tag auditwheel finds it worth."""
    subprocess.run(
        [sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", folder, wheel],
        check=True,
        capture_output=True,
    )
    return only(list(folder.glob("*.whl")))


def smoke(wheel: Path, folder: Path) -> None:
    """Import the core from the wheel, in an interpreter that ignores what is installed of it."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    path = os.pathsep.join([str(folder), sysconfig.get_path("purelib")])
    subprocess.run(
        [sys.executable, "-S", "-c", SMOKE, str(folder)],
        check=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
    )


def main(folder: Path) -> None:
    """Exit with a line for each fault, or say what was found."""
    sdist, wheel = only(list(folder.glob("*.tar.gz"))), only(list(folder.glob("*.whl")))
    faults = [f"{sdist.name} lacks {name}" for name in sorted(missing_from(sdist))]
    faults += [f"{wheel.name} {fault}" for fault in faults_in(wheel)]
    with tempfile.TemporaryDirectory() as scratch:
        repaired = repair(wheel, Path(scratch, "repaired"))
        with zipfile.ZipFile(repaired) as archive:
            grafted = [name for name in archive.namelist() if name.startswith("memgauge.libs/")]
        faults += [f"auditwheel had to graft {name}" for name in grafted]
        smoke(repaired, Path(scratch, "site"))
        summary = f"{sdist.name} and {repaired.name} ({repaired.stat().st_size / 1e6:.1f} MB): good"
    sys.exit("\n".join(faults)) if faults else sys.stdout.write(summary + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
