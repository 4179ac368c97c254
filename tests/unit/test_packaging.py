"""Recipes and hosted workflows say the same as pyproject.toml, and run what cannot change."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def bounds() -> list[tuple[str, str]]:
    """What building and running needs: the name and the least version of each."""
    read = project()
    needed = [*read["build-system"]["requires"], *read["project"]["dependencies"]]
    found = [re.match(r"([\w-]+)>=([\d.]+)", requirement) for requirement in needed]
    assert all(found)
    return [(match[1], match[2]) for match in found if match]


@pytest.mark.parametrize(("name", "least"), bounds())
def test_recipes_need_what_the_package_needs(name: str, least: str) -> None:
    conda = (PACKAGING / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    assert f"- {name} >={least}\n" in conda
    spack = next(PACKAGING.rglob("py_memgauge/package.py")).read_text(encoding="utf-8")
    assert re.search(rf'"py-{name}(\+\w+)?@{re.escape(least)}:"', spack)


def test_one_version_is_stated() -> None:
    version = project()["project"]["version"]
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {version}\n" in cited
    conda = (PACKAGING / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    assert f'\n  version: "{version}"\n' in conda


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_named_by_commit_and_version(path: Path) -> None:
    used = re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))
    assert used
    for action in used:
        assert action.startswith("./") or re.search(r"@[0-9a-f]{40}  # v\d+\.\d+\.\d+$", action)


def test_nothing_is_published_but_by_a_person() -> None:
    publishing = [path for path in WORKFLOWS if "id-token: write" in path.read_text("utf-8")]
    assert [path.name for path in publishing] == ["publish.yml"]
    started = re.search(r"^on:\n((?:  .*\n)+)", publishing[0].read_text("utf-8"), re.MULTILINE)
    assert started is not None
    assert started[1] == "  workflow_dispatch:\n"
