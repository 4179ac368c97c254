"""How --help lists commands and options: by what they are about, and only what is accepted."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from memgauge.commands.root import COMMANDS, GROUPS, root
from memgauge.commands.shared.help import HEADINGS
from memgauge.experiments.registry import EXPERIMENTS
from memgauge.model.experiments import DESCRIPTORS

pytestmark = pytest.mark.native

FLAG = re.compile(r"^  (?:-\w, )?(--[\w-]+)", re.MULTILINE)


def help_of(*words: str) -> str:
    done = CliRunner().invoke(root, [*words, "--help"])
    assert done.exit_code == 0, done.output
    return done.output


def listed(*words: str) -> dict[str, list[str]]:
    """Flags by heading."""
    parts = re.split(r"^(\S.*):\n", help_of(*words), flags=re.MULTILINE)[1:]
    return {
        heading: FLAG.findall(text) for heading, text in zip(parts[::2], parts[1::2], strict=True)
    }


def test_each_command_is_in_one_group() -> None:
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(COMMANDS)
    text = help_of()
    assert [heading for heading in GROUPS if f"\n{heading}:\n" in text] == list(GROUPS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_options_are_listed_by_what_they_are_about(name: str) -> None:
    found = listed(*DESCRIPTORS[name].words)
    assert list(found) == [heading for heading in HEADINGS.values() if heading in found]
    assert "--cpus" in found["Where"] or name == "transfers"
    assert {"--budget", "--precision"} <= set(found["How long, and how precisely"])
    assert found["Output"] == ["--output", "--json", "--remember"]
    assert found["Other options"] == ["--help"]


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("transfers", {"--threads", "--cpus", "--nodes", "--pages", "--keep", "--overwrite"}),
        ("numa", {"--memory", "--keep", "--overwrite"}),
        ("interleave", {"--memory", "--keep", "--overwrite"}),
        ("latency", {"--threads"}),
    ],
)
def test_options_that_are_refused_are_not_listed(name: str, refused: set[str]) -> None:
    flags = {flag for found in listed(name).values() for flag in found}
    assert not flags & refused
    assert "--budget" in flags


def test_an_option_that_is_not_listed_is_refused_with_the_reason() -> None:
    done = CliRunner().invoke(root, ["latency", "--threads", "2", "--budget", "1s"])
    assert done.exit_code != 0
    assert "--threads" in str(done.exception)
    assert "omit --threads" in str(done.exception)
