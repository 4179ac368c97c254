import io

import pytest

from memgauge.commands.shared.output import look_of_stdout
from memgauge.reports.terminal.report import Look


class _Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def _on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Look:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with monkeypatch.context() as patched:
        patched.setattr("sys.stdout", _Terminal())
        return look_of_stdout()


def test_a_terminal_gets_colour_and_its_width(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _on_a_terminal(monkeypatch) == Look(columns=60, color=True, encoding="utf-8")


@pytest.mark.parametrize("variable", ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"])
def test_a_rank_gets_plain_text_whatever_its_launcher_shows_it(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "2")
    assert _on_a_terminal(monkeypatch) == Look(encoding="utf-8")
