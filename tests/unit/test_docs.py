"""Pages name what there is: functions of the package, and messages as they are printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import memgauge

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BROKEN_STRING = re.compile(r'"\s*\n\s*f?"')
"""Where the source goes on in the next line."""
MESSAGE = re.compile(r"^\| [^|`]*`([^`|]+)`", re.MULTILINE)
"""In the first column of a table."""


def test_the_page_on_python_has_every_function() -> None:
    documented = re.findall(
        r"autofunction:: (\w+)|autoclass:: memgauge\.(\w+)$",
        (DOCS / "python.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    missing = set(dir(memgauge)) - {one or other for one, other in documented}
    assert missing == {"Result"}  # of the module of results, which is documented as a whole


def messages() -> list[str]:
    return MESSAGE.findall((DOCS / "troubleshooting.md").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def printed() -> str:
    """All strings of the package, in one piece each."""
    files = sorted((ROOT / "src" / "memgauge").rglob("*.py"))
    return BROKEN_STRING.sub("", "\n".join(one.read_text(encoding="utf-8") for one in files))


def test_the_page_on_troubles_has_messages() -> None:
    assert len(messages()) > 15


@pytest.mark.parametrize("message", messages())
def test_a_message_of_the_page_on_troubles_is_printed(message: str, printed: str) -> None:
    assert message in printed
