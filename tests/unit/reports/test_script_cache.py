"""The kept script is what was made, or it is made again."""

from __future__ import annotations

from pathlib import Path

import pytest

from memgauge.reports.script_cache import directory, kept


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "memgauge"


def unmade() -> str:
    pytest.fail("made again")


def test_a_script_is_made_once() -> None:
    assert kept("a.js", lambda: "draw()\n// é") == "draw()\n// é"
    assert kept("a.js", unmade) == "draw()\n// é"


def test_names_are_kept_apart() -> None:
    kept("a.js", lambda: "a")
    assert kept("b.js", lambda: "b") == "b"


@pytest.mark.parametrize("damage", [b"", b"draw()", b"\xff\xfe", b"0" * 64 + b"\nevil()"])
def test_a_damaged_file_is_made_again(cache: Path, damage: bytes) -> None:
    kept("a.js", lambda: "draw()")
    (cache / "a.js").write_bytes(damage)
    assert kept("a.js", lambda: "draw()") == "draw()"
    assert kept("a.js", unmade) == "draw()"


def test_a_cache_that_cannot_be_written_is_none(cache: Path) -> None:
    cache.write_text("a file where the directory should be", encoding="ascii")
    assert kept("a.js", lambda: "draw()") == "draw()"
    assert kept("a.js", lambda: "again()") == "again()"


def test_without_a_home_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError()))
    assert directory() is None
    assert kept("a.js", lambda: "draw()") == "draw()"
