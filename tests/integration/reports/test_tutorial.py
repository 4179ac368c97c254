"""The tutorial runs as a reader would run it: by a kernel of its own, all cells in order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.native

NOTEBOOK = Path(__file__).parents[3] / "examples" / "tutorial.ipynb"


def test_every_cell_runs_and_results_show_their_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    for name in ("ipykernel", "polars", "pandas"):
        pytest.importorskip(name)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client.NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": tmp_path}}
    ).execute()
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    pages = [
        out for out in outputs if "<iframe srcdoc=" in out.get("data", {}).get("text/html", "")
    ]
    assert len(pages) == 2
    assert all("<Result: " in out["data"]["text/plain"] for out in pages)


def test_the_notebook_is_kept_without_outputs() -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
