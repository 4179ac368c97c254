"""The dependency direction of ARCHITECTURE.md, and what an import may cost."""

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import memgauge

PACKAGE = Path(memgauge.__file__).parent
REPOSITORY = Path(__file__).parents[2]
NATIVE = "_core"
ROOT = "memgauge"

# What each layer may import besides itself. Reports, analysis and model stay free of the native
# core and of all that measures: a run renders on a laptop that cannot measure it.
ALLOWED: dict[str, set[str]] = {
    "model": set(),
    "references": {"model"},
    "machines": {"model"},
    "analysis": {"references", "model"},
    "reports": {"analysis", "model"},
    "system": {"model", NATIVE},
    "counters": {"system", "model", NATIVE},
    "experiments": {"machines", "system", "counters", "model", NATIVE},
    "simulation": {"runner", "experiments", "machines", "counters", "system", "model", NATIVE},
    "runner": {"experiments", "machines", "counters", "system", "analysis", "model"},
    "results": {"reports", "analysis", "references", "model"},
    "store": {"results", "reports", "analysis", "references", "model"},
    "fft3d": {"cluster", "runner", "counters", "system", "analysis", "model", NATIVE},
    "cluster": {"results", "reports", "analysis", "system", "model"},
    "comparing": {"results", "analysis", "references", "model"},
    "measuring": {"results", "runner", "experiments", "system", "model"},
    "api": {
        "comparing", "measuring", "results", "store", "cluster", "runner", "experiments",
        "machines", "simulation", "counters", "system", "reports", "analysis", "references",
        "model",
    },
    "signatures": {"experiments", "runner", "model"},
    ROOT: {"api", "results", "signatures", "model"},
    "commands": {
        ROOT, "api", "comparing", "measuring", "results", "store", "cluster", "fft3d", "runner",
        "experiments", "machines", "simulation", "counters", "system", "reports", "analysis",
        "references", "model",
    },
    "__main__": {"commands", "model", ROOT},
}  # fmt: skip
# What an experiment's package may import within its layer: these, and the peers listed for it.
SHARED: dict[str, set[str]] = {
    "experiments": {"shared"},
    "analysis": {"document_figure", "figures", "published", "section", "statistics"},
}
PEERS: dict[str, dict[str, set[str]]] = {
    "experiments": {
        "counters_compare": {"counters_verify", "traffic"},
        "counters_verify": {"stream"},
        "interleave": {"stream"},
        "tiers": {"loaded", "stream", "transfers"},
        "traffic": {"stream"},
    },
    "analysis": {
        "counters_compare": {"counters_verify"},
        "diagnose": {"profile"},
        "loaded": {"counters_verify", "profile"},
        "misses": {"counters"},
        "mix": {"loaded", "stream"},
        "pages": {"counters"},
        "stream": {"counters"},
        "tiers": {"loaded", "transfers"},
        "traffic": {"counters", "counters_verify"},
        "transfers": {"loaded"},
        "watch": {"profile"},
    },
}
MOST_FILES = 25
"""Of one folder, besides its `__init__.py`."""
BANNED_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}
# Loaded by the function that draws, tabulates or exports, never by a start.
HEAVY = {
    "altair", "cupy", "jsonschema", "mpi4py", "numpy", "pandas", "polars",
    "prometheus_client", "rich", "vl_convert",
}  # fmt: skip

MODULES = sorted(PACKAGE.rglob("*.py"))


def dotted(path: Path) -> list[str]:
    """The module's name, as a list, without the package's own."""
    parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "__init__" else parts


def layer_of(parts: list[str]) -> str:
    """The layer a module belongs to: its first folder, or the package's root."""
    return parts[0] if parts else ROOT


@cache
def imported_names(path: Path) -> list[str]:
    """Every module imported anywhere in a file: in functions and under TYPE_CHECKING too."""
    return [*_imported_names(path)]


def _imported_names(path: Path) -> Iterator[str]:
    package = [ROOT, *path.relative_to(PACKAGE).parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                base = package[: len(package) + 1 - level] if level else []
                stem = ".".join([*base, *([module] if module else [])])
                yield from (f"{stem}.{alias.name}" for alias in names)
            case ast.Call(
                func=ast.Attribute(attr="import_module")
                | ast.Name(id="import_module" | "__import__"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield name


def memgauge_layers(path: Path) -> set[str]:
    """The layers of memgauge that a file imports from."""
    layers = set()
    for name in imported_names(path):
        parts = name.split(".")
        if parts[0] != ROOT:
            continue
        known = len(parts) > 1 and (parts[1] in ALLOWED or parts[1] == NATIVE)
        layers.add(parts[1] if known else ROOT)
    return layers


def test_every_module_has_a_place_in_the_table() -> None:
    assert {layer_of(dotted(path)) for path in MODULES} <= set(ALLOWED)


@pytest.mark.parametrize("layer", ALLOWED)
def test_a_layer_imports_only_what_is_below_it(layer: str) -> None:
    own = [path for path in MODULES if layer_of(dotted(path)) == layer]
    allowed = ALLOWED[layer] | {layer}
    wrong = {str(path.relative_to(PACKAGE)): memgauge_layers(path) - allowed for path in own}
    assert {name: layers for name, layers in wrong.items() if layers} == {}


def packages_within(layer: str) -> dict[str, set[str]]:
    """Which packages of a layer each package of it imports; a module beside them counts as one."""
    found: dict[str, set[str]] = {}
    for path in MODULES:
        if layer_of(dotted(path)) != layer or len(dotted(path)) < 2:
            continue
        own = dotted(path)[1]
        for name in imported_names(path):
            match name.split("."):
                case [base, within, other, *_] if (base, within) == (ROOT, layer) and other != own:
                    found.setdefault(own, set()).add(other)
    return found


@pytest.mark.parametrize("layer", ALLOWED)
def test_the_packages_of_a_layer_have_no_cycle(layer: str) -> None:
    try:
        TopologicalSorter(packages_within(layer)).prepare()
    except CycleError as error:
        pytest.fail(f"{layer}: {' -> '.join(error.args[1])}")


@pytest.mark.parametrize("layer", PEERS)
def test_an_experiment_imports_shared_packages_and_its_peers(layer: str) -> None:
    experiments = {path.name for path in (PACKAGE / "experiments").iterdir() if path.is_dir()}
    found = {
        package: others - SHARED[layer]
        for package, others in packages_within(layer).items()
        if package in experiments - SHARED["experiments"]
    }
    assert {package: others for package, others in found.items() if others} == PEERS[layer]


def test_each_experiment_has_a_package_in_both_layers() -> None:
    layers = [
        {path.parent.name for path in (PACKAGE / layer).glob("*/__init__.py")} for layer in PEERS
    ]
    assert layers[0] - SHARED["experiments"] <= layers[1]


@pytest.mark.parametrize("tree", ["src", "core", "bindings", "tests"])
def test_no_folder_holds_more_than_one_can_look_through(tree: str) -> None:
    names = ("*.py", "*.cpp", "*.hpp")
    files = [path for name in names for path in (REPOSITORY / tree).rglob(name)]
    counts = Counter(path.parent for path in files if path.name != "__init__.py")
    many = {
        str(folder.relative_to(REPOSITORY)): count
        for folder, count in counts.items()
        if count > MOST_FILES
    }
    assert files
    assert many == {}


def test_imports_are_found_wherever_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    path = tmp_path / "reports" / "probe.py"
    path.parent.mkdir()
    path.write_text(
        "import memgauge.model.units\n"
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from memgauge.runner import rounds\n"
        "def late():\n    from .. import _core\n    from ..system.detect import detect\n"
        "    from . import sibling\n    import_module('memgauge.commands.survey')\n",
        encoding="utf-8",
    )
    expected = {"model", "runner", NATIVE, "system", "reports", "commands"}
    assert memgauge_layers(path) == expected


def test_numpy_is_imported_by_the_mini_app_alone() -> None:
    users = {
        layer_of(dotted(path))
        for path in MODULES
        for name in imported_names(path)
        if name.split(".")[0] in {"numpy", "cupy"}
    }
    assert users == {"fft3d"}


def test_no_module_is_a_drawer_of_odds_and_ends() -> None:
    assert [path for path in MODULES if set(path.with_suffix("").parts) & BANNED_NAMES] == []


def imported_in_fresh_interpreter(statement: str) -> set[str]:
    """Top-level modules loaded after a statement, in a new interpreter."""
    program = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60
    )
    return {
        name for name in result.stdout.split("\n") if name.count(".") == 0 or name.startswith(ROOT)
    }


@pytest.mark.parametrize(
    "statement",
    [
        "import memgauge",
        "import memgauge.commands",
        "from memgauge.__main__ import main\nmain(['--help'])",
        "from memgauge.__main__ import main\nmain(['survey', '--help'])",
    ],
)
def test_start_is_light(statement: str) -> None:
    loaded = imported_in_fresh_interpreter(statement)
    assert loaded & HEAVY == set()
    assert f"{ROOT}.{NATIVE}" not in loaded


@pytest.mark.parametrize("layer", ["model", "references", "analysis", "reports"])
def test_rendering_layers_load_without_the_native_core(layer: str) -> None:
    names = [".".join([ROOT, *dotted(path)]) for path in MODULES if layer_of(dotted(path)) == layer]
    imports = "".join(f"import {name}\n" for name in names)
    loaded = imported_in_fresh_interpreter(
        f"import sys\nsys.modules['memgauge._core'] = None\n{imports}"
    )
    assert set(names) <= loaded
