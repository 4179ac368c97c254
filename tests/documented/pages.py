"""What the pages show: commands, commands named in a sentence, and examples in Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = "```"
INDENT = "    "
PROMPT = "$ "
MENTIONED = re.compile(r"`([^`]*)`")
OWN = re.compile(r"(?:^|[ (])memgauge [^<]")


@dataclass(frozen=True)
class Shown:
    """Something that a page shows in a block of code, or in a sentence."""

    page: str
    line: int
    text: str
    answer: tuple[str, ...] = ()
    """What the page shows as output."""

    @property
    def title(self) -> str:
        """Where it is, and its first line."""
        return f"{self.page}:{self.line} {self.text.strip().splitlines()[0]}"


@dataclass(frozen=True)
class _Block:
    language: str | None
    """None: an indented block."""
    first: int
    lines: tuple[str, ...]

    @property
    def is_script(self) -> bool:
        """Whether every line is run: without a prompt, and with nothing shown as output."""
        return self.language is None or self.lines[:1] == ("#!/bin/bash",)


@cache
def commands() -> tuple[Shown, ...]:
    """All that a reader would type into a shell."""
    return tuple(
        found
        for page in PAGES
        for block in _blocks(page)
        if block.language != "python"
        for found in _commands_of(_name(page), block)
    )


@cache
def examples() -> tuple[Shown, ...]:
    """All blocks of Python."""
    return tuple(
        Shown(_name(page), block.first, "\n".join(block.lines))
        for page in PAGES
        for block in _blocks(page)
        if block.language == "python"
    )


@cache
def mentions() -> tuple[Shown, ...]:
    """Commands of memgauge that stand in a sentence."""
    return tuple(
        Shown(_name(page), number, found)
        for page in PAGES
        for number, line in enumerate(_prose(page), start=1)
        for found in MENTIONED.findall(line)
        if OWN.search(found)
    )


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def _lines(page: Path) -> list[str]:
    return page.read_text(encoding="utf-8").splitlines()


def _blocks(page: Path) -> Iterator[_Block]:
    """Fenced blocks, and indented ones outside of them."""
    language: str | None = None
    first, block = 0, list[str]()
    for number, line in enumerate([*_lines(page), ""], start=1):
        if language is not None and line.startswith(FENCE):
            yield _Block(language, first, tuple(block))
            language, block = None, []
        elif language is not None or line.startswith(INDENT):
            first = first if block else number
            block.append(line if language is not None else line.removeprefix(INDENT))
        else:
            if block:
                yield _Block(None, first, tuple(block))
            language, block = (line[3:], []) if line.startswith(FENCE) else (None, [])


def _prose(page: Path) -> Iterator[str]:
    """The lines outside of fenced blocks; others empty, so that numbers stay right."""
    fenced = False
    for line in _lines(page):
        fenced ^= line.startswith(FENCE)
        yield "" if fenced or line.startswith((FENCE, INDENT)) else line


def _commands_of(page: str, block: _Block) -> Iterator[Shown]:
    at = 0
    while at < len(block.lines):
        begin, line = at, block.lines[at]
        at += 1
        if not line.strip() or not (block.is_script or line.startswith(PROMPT)):
            continue
        if line.startswith("#"):
            continue
        while line.endswith("\\") and at < len(block.lines):
            line = line.removesuffix("\\") + block.lines[at].strip()
            at += 1
        answer = () if block.is_script else _until_prompt(block.lines[at:])
        yield Shown(page, block.first + begin, line.removeprefix(PROMPT), answer)


def _until_prompt(lines: tuple[str, ...]) -> tuple[str, ...]:
    end = next((at for at, line in enumerate(lines) if line.startswith(PROMPT)), len(lines))
    return lines[:end]
