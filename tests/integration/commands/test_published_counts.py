"""`memgauge report reference:NAME`: published counts of memory controllers, analysed."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import memgauge
from memgauge.commands.root import root
from memgauge.model.errors import RequestError
from memgauge.references.library import NAMES, PREFIX

ALTRA = "reference:altra-dmc620"


def said(*arguments: str) -> str:
    done = CliRunner().invoke(root, ["report", *arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def test_the_summary_holds_the_printed_figures() -> None:
    text = " ".join(said(ALTRA).split())
    assert "113,159.59" in text
    assert "110,841.10" in text
    assert "no write-allocate took place" in text
    assert "arm_dmc620_50008dc00" in text


def test_the_page_holds_the_picture() -> None:
    page = said(ALTRA, "--format", "html")
    assert page.startswith("<!doctype html>")
    assert "Software and hardware bandwidth" in page


def test_the_document_is_plain_data() -> None:
    made = json.loads(said(ALTRA, "--format", "json"))
    assert made["published"]
    assert made["repetitions"] == 99
    total = made["hardware"]["total_bytes_per_s"]["value"]
    assert f"{total / 1e6:.2f}" == "113159.59"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["reference:altra"], "is not in the library of published results"),
        ([ALTRA, "--format", "stream"], "is not a run, and only runs have STREAM's table"),
    ],
)
def test_what_cannot_be_shown_is_refused(arguments: list[str], why: str) -> None:
    with pytest.raises(RequestError, match=why):
        root.main(["report", *arguments], prog_name="memgauge", standalone_mode=False)


def test_the_python_api_gives_the_same() -> None:
    found = memgauge.published(ALTRA)
    assert "113,159.59" in found.text()
    assert found.document()["repetitions"] == 99
    assert found.html().startswith("<!doctype html>")


@pytest.mark.parametrize("name", NAMES)
def test_every_published_set_has_a_report(name: str) -> None:
    """With its numbers as they were published, and what the study leaves open."""
    found = memgauge.published(f"{PREFIX}{name}")
    text = " ".join(found.text(width=200).split())
    described = found.reference.description
    assert described.study in text
    assert len(found.report.verdicts) == len(described.caveats)
    assert found.html().startswith("<!doctype html>")
    assert found.document()
    if described.counts is None and described.competition is None:
        for row in found.reference.rows:
            assert all(cell in text for cell in row.values())
        assert len(found.document()["figures"]) == len(found.reference.figures)
