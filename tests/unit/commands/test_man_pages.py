"""The man pages that the wheel installs are those of the commands as they are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.native

ROOT = Path(__file__).parents[3]
PAGES = ROOT / "docs" / "man"


def test_the_pages_are_those_of_the_commands() -> None:
    done = subprocess.run(
        [sys.executable, ".ci/man_pages.py", str(PAGES), "--check"],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_every_page_has_the_parts_of_one() -> None:
    pages = sorted(PAGES.glob("*.1"))
    assert len(pages) > 30
    for page in pages:
        lines = page.read_text(encoding="utf-8").splitlines()
        assert {".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH SEE ALSO"} <= {*lines}, page
        assert not any(line.startswith("'") for line in lines), page
