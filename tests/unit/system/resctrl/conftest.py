"""A planted resctrl for the tests here."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.system.resctrl.planted import Planted, planted


@pytest.fixture
def resctrl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Planted:
    """With two caches, of which bandwidth and ways can be limited."""
    return planted(tmp_path, monkeypatch)
