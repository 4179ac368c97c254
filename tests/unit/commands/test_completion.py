"""What a shell completes, and what is said of a name that does not exist."""

import os
from unittest.mock import patch

import pytest
from click.shell_completion import get_completion_class

from memgauge.commands import main
from memgauge.commands.completion import SHELLS
from memgauge.commands.root import COMMANDS, root
from memgauge.model.errors import ExitCode
from memgauge.model.nests import KINDS


def answered(shell: str, line: str) -> str:
    """What the script of that shell is told that asks for the last word."""
    words = line.split(" ")
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    if shell == "fish":
        asked = {"COMP_WORDS": line, "COMP_CWORD": words[-1]}
    made = get_completion_class(shell)
    assert made is not None
    with patch.dict(os.environ, asked):
        return made(root, {}, "memgauge", "_MEMGAUGE_COMPLETE").complete()


def completed(shell: str, line: str) -> list[str]:
    """Of each answer the value."""
    lines = answered(shell, line).splitlines()
    if shell == "zsh":
        return lines[1::3]
    return [entry.partition(",")[2].partition("\t")[0] for entry in lines]


@pytest.mark.parametrize("shell", SHELLS)
def test_commands_options_and_values_of_lists_are_completed(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(["completion", shell]) == ExitCode.DONE
    assert "_MEMGAUGE_COMPLETE" in capsys.readouterr().out
    assert set(completed(shell, "memgauge st")) == {"stream", "stride"}
    assert completed(shell, "memgauge stream --kern") == ["--kernel"]
    assert "triad" in completed(shell, "memgauge stream --kernel tr")


def test_a_list_is_completed_after_its_last_comma_without_what_is_in_it() -> None:
    found = completed("bash", "memgauge stream --kernel copy,")
    assert "copy,triad" in found
    assert "copy,copy" not in found
    assert completed("bash", "memgauge survey --only latency,loa") == ["latency,loaded"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_a_value_behind_the_sign_keeps_its_flag_where_the_whole_word_is_replaced(
    shell: str,
) -> None:
    assert completed(shell, "memgauge stream --kernel=tr") == ["--kernel=triad"]
    assert "--kernel=copy,triad" in completed(shell, "memgauge stream --kernel=copy,tr")


def test_bash_parts_words_at_the_sign() -> None:
    assert completed("bash", "memgauge stream --kernel = tr") == ["triad"]
    assert "copy" in completed("bash", "memgauge stream --kernel =")
    assert completed("bash", "memgauge export run --format = csv --ta") == ["--table"]
    assert answered("bash", "memgauge report --format = json r").splitlines() == ["file,r"]


@pytest.mark.parametrize(
    "line",
    [
        "memgauge report r",
        "memgauge compare run-a r",
        "memgauge profile -- r",
        "memgauge diagnose -- r",
        "memgauge simulate -- r",
        "memgauge simulate --machine r",
        "memgauge stream --output r",
    ],
)
def test_files_are_left_to_the_shell(line: str) -> None:
    assert answered("bash", line).splitlines() == ["file,r"]


def test_machines_and_kernels_are_completed_by_name() -> None:
    assert completed("bash", "memgauge simulate --machine power9-1") == ["power9-110mb"]
    assert completed("bash", "memgauge traffic gem") == [
        name for name in KINDS if name.startswith("gem")
    ]


def test_fish_keeps_the_commas_of_a_value(capsys: pytest.CaptureFixture[str]) -> None:
    main.run(["completion", "fish"])
    assert 'string split --max 1 ","' in capsys.readouterr().out


def test_zsh_seeks_files_behind_the_flag(capsys: pytest.CaptureFixture[str]) -> None:
    main.run(["completion", "zsh"])
    assert capsys.readouterr().out.count("compset -P '--*='; _path_files") == 2


def test_a_mistyped_command_is_corrected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["steam"]) == ExitCode.CANNOT_BE_MET
    said = capsys.readouterr().err
    assert said.startswith("memgauge: no such command 'steam'; did you mean stream")
    assert main.run(["qqqq"]) == ExitCode.CANNOT_BE_MET
    assert "did you mean" not in capsys.readouterr().err


def test_no_command_at_all_shows_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run([]) == ExitCode.DONE
    shown = capsys.readouterr()
    assert not shown.err
    assert all(name in shown.out for name in COMMANDS)
