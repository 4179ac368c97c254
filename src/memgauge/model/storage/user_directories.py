"""Directories for what outlives a run: the user's state and cache directories.

Source: XDG Base Directory Specification 0.8. As it requires, variables without an absolute path are
ignored.
"""

from __future__ import annotations

import os
import pwd
from pathlib import Path

from memgauge.model.errors import SystemFailure


def state_directory() -> Path | None:
    """Directory for state that must outlive a run: journals and verdicts. None without a home."""
    return _directory("XDG_STATE_HOME", ".local/state")


def cache_directory() -> Path | None:
    """Directory for what can be recreated. None without a home."""
    return _directory("XDG_CACHE_HOME", ".cache")


def required_state_directory() -> Path:
    """As `state_directory`, for callers that require it.

    Raises:
        SystemFailure: the user has no home.
    """
    found = state_directory()
    if found is None:
        raise SystemFailure(
            "HOME: the user has no home directory for state files; set XDG_STATE_HOME to an "
            "absolute path"
        )
    return found


def _directory(variable: str, below_home: str) -> Path | None:
    base = os.environ.get(variable, "")
    if base.startswith("/"):
        return Path(base) / "memgauge"
    home = _home()
    return home / below_home / "memgauge" if home is not None else None


def _home() -> Path | None:
    home = os.environ.get("HOME", "")
    if not home.startswith("/"):
        try:
            home = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:  # a container's user may be missing from the list of users
            return None
    return Path(home) if home.startswith("/") else None
