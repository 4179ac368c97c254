"""Render the published tables and the examples of the documentation as pages, with pictures.

Arguments: the directory for pages and pictures. Prints the gallery as Markdown, its links relative
to the site's root. Tables ship with memgauge and the records of examples lie in docs/examples, so
each build gives the same pages; what was measured where it runs is not among it. Without a Chromium
there are links and no pictures.
"""

import shutil
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

from memgauge.references.library import NAMES
from memgauge.results import Analysed, Published, load_run

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PIXELS = (1280, 1100)
SCALE = 0.5
"""Of the pictures to the pages."""
DRAWN_MS = 10_000
"""Of the page's own clock, in which its script draws the charts."""
LIMIT_S = 120


def main(directory: Path) -> int:
    """Write pages and pictures and print the entries."""
    directory.mkdir(parents=True, exist_ok=True)
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    for example in sorted(EXAMPLES.iterdir()):
        command = f"memgauge report docs/examples/{example.name}"
        sys.stdout.write(entry(load_run(example), example.name, command, directory, browser) + "\n")
    for name in NAMES:
        command = f"memgauge report reference:{name}"
        sys.stdout.write(entry(Published(name), name, command, directory, browser) + "\n")
    return 0


def entry(shown: Analysed, name: str, command: str, directory: Path, browser: str | None) -> str:
    """A heading, what the page is of, and a picture or words that lead to it."""
    page = directory / f"{name}.html"
    page.write_text(shown.html(), encoding="utf-8")
    picture = None if browser is None else pictured(page, browser)
    report = shown.report
    link = f"Open the page of {name}"
    if picture is not None:
        link = f'<img src="{directory.name}/{picture.name}" alt="{link}" loading="lazy">'
    return f"""## {name}

{escape(report.title)}: {escape(report.machine)}. `{command}`

<p><a href="{directory.name}/{page.name}">{link}</a></p>
"""


def pictured(page: Path, browser: str) -> Path | None:
    """The first screen of a page; None where the browser gives none."""
    picture = page.with_suffix(".png")
    picture.unlink(missing_ok=True)
    width, height = PIXELS
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                browser,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                f"--user-data-dir={profile}",
                f"--window-size={width},{height}",
                f"--virtual-time-budget={DRAWN_MS}",
                f"--force-device-scale-factor={SCALE}",
                f"--screenshot={picture}",
                page.absolute().as_uri(),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=LIMIT_S,
            check=False,
        )
    return picture if picture.exists() else None


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
