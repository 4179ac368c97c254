"""Rows of the table of commands and of the index of pages that follow from the experiments.

`python -m tests.documented.tables` writes them anew.
"""

from __future__ import annotations

from pathlib import Path

from memgauge.model.experiments import SURVEYED, Descriptor

ROOT = Path(__file__).parents[2]
COMMANDS, INDEX = ROOT / "docs" / "command_line.md", ROOT / "docs" / "README.md"


def row_of_command(one: Descriptor) -> str:
    """What its command does, with a link to its page."""
    command = " ".join(("memgauge", *one.words))
    text = one.summary[0].lower() + one.summary[1:].removesuffix(".")
    return f"| `{command}` | [{text}]({Path(one.page).name}) |"


def row_of_index(one: Descriptor) -> str:
    """Its page and its question."""
    return f"| [{one.name}]({Path(one.page).name}) | {one.question} |"


ROWS = {COMMANDS: row_of_command, INDEX: row_of_index}


def expected(page: Path) -> str:
    """All its rows, one a line."""
    return "".join(f"{ROWS[page](one)}\n" for one in SURVEYED.values())


def main() -> None:
    """Put the rows where the first of them stands."""
    for page, row_of in ROWS.items():
        begins = tuple(row_of(one).partition(" | ")[0] + " |" for one in SURVEYED.values())
        lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
        old = [line for line in lines if line.startswith(begins)]
        at = lines.index(old[0])
        kept = [line for line in lines if line not in old]
        text = "".join([*kept[:at], expected(page), *kept[at:]])
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
