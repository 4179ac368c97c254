"""SECURITY.md reviews every place that opens, starts, loads or looks up something by name.

A file that begins to do so, or ceases to, fails here until the review says so too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "memgauge"
REVIEW = ROOT / "SECURITY.md"

OPENING = {"open", "os.open", "io.open", "os.mkdir", "os.mkfifo", "os.memfd_create"}
OPENING_METHODS = {"read_text", "read_bytes", "write_text", "write_bytes", "touch"}
STARTING = {"subprocess.Popen", "subprocess.run", "os.execv", "os.execve", "os.execvp", "os.fork"}
LOOKING_UP = {"shutil.which", "candidates", "find_program"}
ENVIRONMENT = {"os.environ", "os.getenv", "os.environb"}
LOADING = {"ctypes.CDLL", "import_module", "__import__", "exec", "eval"}
NATIVE = {
    "opens": r"(?<![\w.>])(?:::)?(?:open|openat|memfd_create|fopen)\((?!\))|\bifstream\s+\w+\(",
    "starts": r"\bexecve\(",
    "environment": r"getenv\(",
    "loads": r"\bdlopen\(",
}


def kinds_of_python(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ENVIRONMENT:
            yield "environment"
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in OPENING or method in OPENING_METHODS or is_file_opened(node, method):
            yield "opens"
        if name in STARTING or method == "HeldProcess":
            yield "starts"
        if name in LOOKING_UP:
            yield "looks up"
        if name in LOADING:
            yield "loads"


def is_file_opened(call: ast.Call, method: str) -> bool:
    """`path.open("rb")`, and not the `open` of an experiment or a counter."""
    first = call.args[0] if call.args else None
    return (
        method == "open"
        and isinstance(first, ast.Constant)
        and re.fullmatch("[rwax]b?", str(first.value)) is not None
    )


def kinds_of_native(path: Path) -> Iterator[str]:
    code = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))
    for kind, pattern in NATIVE.items():
        if re.search(pattern, code):
            yield kind


@cache
def found() -> dict[str, set[str]]:
    """By file, as the review names it, what it does."""
    files = {
        path: set(kinds_of_python(path))
        for path in PACKAGE.rglob("*.py")
        if path.parent.name != "__pycache__"
    }
    native = (
        ROOT / "core" / "src",
        ROOT / "core" / "region",
        ROOT / "core" / "preload",
        ROOT / "bindings",
    )
    for folder in native:
        for path in folder.rglob("*.[ch]*"):
            files[path] = set(kinds_of_native(path))
    return {
        str(path.relative_to(PACKAGE if path.suffix == ".py" else ROOT)): kinds
        for path, kinds in files.items()
        if kinds
    }


def reviewed() -> dict[str, set[str]]:
    _, _, table = REVIEW.read_text(encoding="utf-8").partition("## Every place")
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", table, re.MULTILINE)
    assert len({file for file, _ in rows}) == len(rows), "a file has two rows"
    return {file: set(kinds.strip().split(", ")) for file, kinds in rows}


def test_the_review_names_every_file_and_what_it_does() -> None:
    if not REVIEW.exists():
        pytest.skip("an installed package has no SECURITY.md beside it")
    assert reviewed() == found()


def test_the_scan_sees_each_kind() -> None:
    kinds = set().union(*found().values())
    assert kinds == {"opens", "starts", "looks up", "loads", "environment"}
