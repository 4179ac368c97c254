"""The gallery of the documentation's site: every entry leads to a page that is there."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from memgauge.results import Published, load_run

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
SCRIPT = Path(__file__).parents[2] / ".ci" / "gallery.py"
NAME = "hybrid12-tlb"


@pytest.fixture
def entry() -> Callable[[Path, str | None], str]:
    spec = importlib.util.spec_from_file_location("gallery", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    command = f"memgauge report reference:{NAME}"
    return lambda place, browser: str(module.entry(Published(NAME), NAME, command, place, browser))


def test_the_examples_of_the_documentation_are_read() -> None:
    examples = sorted(EXAMPLES.iterdir())
    assert examples
    for example in examples:
        assert load_run(example).html().startswith("<!doctype html>")


def linked(written: str, place: Path) -> list[Path]:
    return [place.parent / path for path in re.findall(r'(?:href|src)="([^"]+)"', written)]


def test_without_a_browser_words_lead_to_the_page(
    entry: Callable[[Path, str | None], str], tmp_path: Path
) -> None:
    written = entry(tmp_path, None)
    assert linked(written, tmp_path) == [tmp_path / f"{NAME}.html"]
    assert (tmp_path / f"{NAME}.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "<img" not in written


def test_a_browser_that_draws_nothing_leaves_the_words(
    entry: Callable[[Path, str | None], str], tmp_path: Path
) -> None:
    assert "<img" not in entry(tmp_path, "/bin/false")


@pytest.mark.browser
def test_a_picture_leads_to_the_page(
    entry: Callable[[Path, str | None], str], tmp_path: Path, browser: str
) -> None:
    found = linked(entry(tmp_path, browser), tmp_path)
    assert found == [tmp_path / f"{NAME}.html", tmp_path / f"{NAME}.png"]
    assert found[1].read_bytes().startswith(b"\x89PNG")
