"""The script is that of the package; a kept one is one that it knows, or it is made again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memgauge.reports.charts import script_cache
from memgauge.reports.charts.script_cache import bundle, known_digest, licences, snippet

SCRIPT = "draw()\n// é"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    digest = hashlib.sha256(SCRIPT.encode()).hexdigest()
    monkeypatch.setattr(script_cache, "known_digest", {"1": digest, "2": "0" * 64}.get)
    return tmp_path / "memgauge"


def made() -> str:
    return SCRIPT


def unmade() -> str:
    pytest.fail("made again")


def kept_file(cache: Path) -> Path:
    (file,) = cache.iterdir()
    return file


def test_a_script_is_made_once(cache: Path) -> None:
    assert bundle("1", made) == SCRIPT
    assert bundle("1", unmade) == SCRIPT
    assert kept_file(cache).read_text(encoding="utf-8") == SCRIPT


@pytest.mark.parametrize("version", ["2", "3"])
def test_one_that_the_package_does_not_know_is_not_kept(cache: Path, version: str) -> None:
    assert bundle(version, made) == SCRIPT
    assert not cache.exists()


def test_code_put_there_with_its_own_digest_is_not_used(cache: Path) -> None:
    """As the file was trusted before: by a digest in its own first line."""
    bundle("1", made)
    evil = "evil()"
    digest = hashlib.sha256(evil.encode()).hexdigest()
    kept_file(cache).write_text(f"{digest}\n{evil}", encoding="utf-8")
    assert bundle("1", made) == SCRIPT
    assert bundle("1", unmade) == SCRIPT


@pytest.mark.parametrize("damage", [b"", b"draw()", b"\xff\xfe"])
def test_a_damaged_file_is_made_again(cache: Path, damage: bytes) -> None:
    bundle("1", made)
    kept_file(cache).write_bytes(damage)
    assert bundle("1", made) == SCRIPT
    assert bundle("1", unmade) == SCRIPT


@pytest.mark.parametrize(
    "place", [os.mkfifo, Path.mkdir, lambda path: path.symlink_to("/dev/zero")]
)
def test_what_is_no_file_does_not_hang(cache: Path, place: Callable[[Path], None]) -> None:
    bundle("1", made)
    path = kept_file(cache)
    path.unlink()
    place(path)
    assert bundle("1", made) == SCRIPT


def test_a_file_of_any_size_is_bounded(cache: Path) -> None:
    bundle("1", made)
    with kept_file(cache).open("wb") as file:
        file.truncate(30_000_000_000)
    assert bundle("1", made) == SCRIPT


def test_a_cache_that_cannot_be_written_is_none(cache: Path) -> None:
    cache.write_text("a file where the directory should be", encoding="ascii")
    assert bundle("1", made) == SCRIPT


def test_without_a_home_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script_cache, "cache_directory", lambda: None)
    assert bundle("1", made) == SCRIPT


def test_the_digests_are_those_of_the_libraries() -> None:
    convert = pytest.importorskip("vl_convert")
    known = known_digest(convert.__version__)
    if known is None:
        pytest.skip(f"reports/assets/bundles.toml does not list vl-convert {convert.__version__}")
    assert hashlib.sha256(convert.javascript_bundle(snippet()).encode()).hexdigest() == known


def test_the_licences_are_one_comment() -> None:
    written = licences()
    assert written.startswith("/*")
    assert written.endswith("*/\n")
    assert written.count("*/") == 1
    for name in ("vega-lite", "University of Washington", "Mike Bostock", "THE COPYRIGHT HOLDERS"):
        assert name in written
