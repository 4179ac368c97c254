"""The XDG base directories, as the specification has them."""

import os
import pwd
from pathlib import Path

import pytest

from memgauge.model.errors import SystemFailure
from memgauge.model.storage.user_directories import (
    cache_directory,
    required_state_directory,
    state_directory,
)


@pytest.fixture(autouse=True)
def without_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/someone")


def test_they_are_below_home() -> None:
    assert state_directory() == Path("/home/someone/.local/state/memgauge")
    assert cache_directory() == Path("/home/someone/.cache/memgauge")


def test_variables_name_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/somewhere")
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert state_directory() == required_state_directory() == Path("/somewhere/memgauge")
    assert cache_directory() == Path("/elsewhere/memgauge")


@pytest.mark.parametrize("relative", ["", ".", "relative/is/ignored", "~/x"])
def test_relative_paths_are_ignored(relative: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", relative)
    monkeypatch.setenv("XDG_CACHE_HOME", relative)
    assert state_directory() == Path("/home/someone/.local/state/memgauge")
    assert cache_directory() == Path("/home/someone/.cache/memgauge")


@pytest.mark.parametrize("home", [None, "", "relative"])
def test_without_a_home_variable_it_is_the_users(
    home: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if home is None:
        monkeypatch.delenv("HOME")
    else:
        monkeypatch.setenv("HOME", home)
    expected = Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert cache_directory() == expected / ".cache" / "memgauge"


def test_a_user_without_a_home_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(uid: int) -> pwd.struct_passwd:
        raise KeyError(uid)

    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert state_directory() is None
    assert cache_directory() is None
    with pytest.raises(SystemFailure, match="set XDG_STATE_HOME to an absolute path"):
        required_state_directory()
