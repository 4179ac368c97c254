"""What the build of a wheel makes of vl-convert for pages."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

SCRIPT = Path(__file__).parents[4] / "cmake" / "chart_libraries.py"
BUNDLES = 'snippet = "window.x = x;"\n[sha256]\n"1" = "{digest}"\n'


@pytest.fixture
def build() -> Callable[[Path, Path], None]:
    spec = importlib.util.spec_from_file_location("chart_libraries", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    main: Callable[[Path, Path], None] = module.main
    return main


def files(tmp_path: Path, known: str) -> tuple[Path, Path]:
    bundles, output = tmp_path / "bundles.toml", tmp_path / "vega.js"
    digest = hashlib.sha256(known.encode()).hexdigest()
    bundles.write_text(BUNDLES.format(digest=digest), encoding="utf-8")
    output.write_text("of an earlier build", encoding="utf-8")
    return bundles, output


def installed(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    library = SimpleNamespace(__version__=version, javascript_bundle=lambda code: f"var é; {code}")
    monkeypatch.setitem(sys.modules, "vl_convert", library)


@pytest.mark.parametrize(
    ("version", "known"), [("1", "var é; window.x = x;"), ("2", "of another version")]
)
def test_the_bundle_of_the_snippet_is_written(
    version: str,
    known: str,
    build: Callable[[Path, Path], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    installed(monkeypatch, version)
    bundles, output = files(tmp_path, known)
    build(bundles, output)
    assert output.read_text(encoding="utf-8") == "var é; window.x = x;"


def test_another_bundle_than_the_known_one_ends_the_build(
    build: Callable[[Path, Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, "1")
    bundles, output = files(tmp_path, "what it was")
    with pytest.raises(SystemExit, match=r"is not the digest that .* has for 1"):
        build(bundles, output)
    assert not output.exists()


def test_without_vl_convert_nothing_is_written_and_the_reason_stated(
    build: Callable[[Path, Path], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    bundles, output = files(tmp_path, "")
    build(bundles, output)
    assert not output.exists()
    assert "the pages will have no charts" in capsys.readouterr().err
