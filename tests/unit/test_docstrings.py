"""Public functions with three parameters or more describe each of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import memgauge

SOURCE = Path(memgauge.__file__).parent
FEWEST = 3


def functions(body: list[ast.stmt]) -> Iterator[ast.FunctionDef]:
    """Public functions of a module, and methods of its public classes that override nothing."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from functions(node.body)
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            names = {ast.unparse(one) for one in node.decorator_list}
            if not names & {"override", "overload"}:
                yield node


def undocumented(function: ast.FunctionDef) -> list[str]:
    """Parameters without a line of their own."""
    every = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
    names = [one.arg for one in every if one.arg not in {"self", "cls"}]
    if len(names) < FEWEST:
        return []
    lines = (ast.get_docstring(function) or "").partition("Args:\n")[2].splitlines()
    described = {line.strip().partition(":")[0] for line in lines}
    return [name for name in names if name not in described]


@pytest.mark.parametrize("package", sorted({p.parent for p in SOURCE.rglob("*.py")}), ids=str)
def test_every_parameter_is_described(package: Path) -> None:
    lacking = [
        f"{path.relative_to(SOURCE)}: {function.name} lacks {', '.join(names)}"
        for path in sorted(package.glob("*.py"))
        for function in functions(ast.parse(path.read_text("utf-8")).body)
        if (names := undocumented(function))
    ]
    assert not lacking, "\n".join(lacking)
