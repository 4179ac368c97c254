"""What tests of files and pools share."""

from __future__ import annotations

import errno
import os

import pytest


@pytest.fixture(params=["unnamed files", "none"])
def unnamed_files(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Each test twice: where the file system has files without a name, and where it has none."""
    if request.param == "unnamed files":
        return True
    plain_open = os.open

    def open_(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        return plain_open(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", open_)
    return False
