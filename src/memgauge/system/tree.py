"""Reading small files of sysfs and procfs below a root, which tests replace by a made-up tree."""

from __future__ import annotations

import os
from pathlib import Path

from memgauge.model.cpulist import parse_cpu_list

ROOT = Path("/")
_CHUNK_BYTES = 1 << 16


class Tree:
    """A file system root. A file that is missing, hidden or unreadable reads as None."""

    def __init__(self, root: Path = ROOT) -> None:
        self._prefix = str(root).rstrip("/")

    def path(self, path: str) -> Path:
        """The absolute `path` (`/sys/...`) below the root."""
        return Path(self._prefix + path)

    def raw(self, path: str) -> bytes | None:
        """Contents of the file."""
        try:
            # Unbuffered: a fifth of the time of Path.read_bytes, for thousands of files.
            descriptor = os.open(self._prefix + path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            return _read_all(descriptor)
        except OSError:
            return None
        finally:
            os.close(descriptor)

    def text(self, path: str) -> str | None:
        """Contents without surrounding white space; a firmware's odd bytes are replaced."""
        raw = self.raw(path)
        return None if raw is None else raw.decode("utf-8", "replace").strip(" \t\n\0")

    def integer(self, path: str) -> int | None:
        """A decimal number; None where the file holds something else."""
        text = self.text(path)
        try:
            return None if text is None else int(text)
        except ValueError:
            return None

    def quantity(self, path: str) -> int | None:
        """A number from 0 on, in decimal or as 0x...; None where the file holds something else."""
        try:
            number = int(self.text(path) or "", 0)
        except ValueError:
            return None
        return number if number >= 0 else None

    def numbers(self, path: str) -> list[int] | None:
        """A CPU or node list in rising order; None where missing or malformed."""
        text = self.text(path)
        return None if text is None else sorted_numbers(text)

    def names(self, path: str) -> list[str]:
        """Names in a directory, sorted; none where it is missing."""
        try:
            return sorted(os.listdir(self._prefix + path))  # noqa: PTH208
        except OSError:
            return []

    def numbered(self, path: str, prefix: str) -> list[int]:
        """The numbers N of the entries `prefix`N of a directory, rising."""
        tails = (name[len(prefix) :] for name in self.names(path) if name.startswith(prefix))
        return sorted(int(tail) for tail in tails if tail.isascii() and tail.isdigit())

    def exists(self, path: str) -> bool:
        """Whether the path can be seen."""
        return os.path.exists(self._prefix + path)  # noqa: PTH110

    def resolved(self, path: str) -> str | None:
        """Where the path leads once its symbolic links are followed; None where it leads nowhere.

        Absolute below the root, as `path` is.
        """
        real = os.path.realpath(self._prefix + path)
        root = os.path.realpath(self._prefix or "/").rstrip("/")
        if not os.path.exists(real) or not real.startswith(root + "/"):  # noqa: PTH110
            return None
        return real.removeprefix(root)

    def usable(self, path: str) -> bool:
        """Whether this process may read and write the path."""
        return os.access(self._prefix + path, os.R_OK | os.W_OK)

    def fields(self, path: str, separator: str = ":") -> dict[str, str]:
        """Lines `name: value` of a file; the first of each name counts."""
        found: dict[str, str] = {}
        for line in (self.text(path) or "").splitlines():
            name, mark, value = line.partition(separator)
            if mark:
                found.setdefault(name.strip(), value.strip())
        return found


def sorted_numbers(text: str) -> list[int] | None:
    """A CPU or node list of the kernel in rising order; None where malformed."""
    try:
        return sorted(parse_cpu_list(text))
    except ValueError:
        return None


def _read_all(descriptor: int) -> bytes:
    chunks: list[bytes] = []
    while chunk := os.read(descriptor, _CHUNK_BYTES):
        chunks.append(chunk)
    return b"".join(chunks)


def too_many_open() -> str | None:
    """What to say where no more files can be opened, so that what is there looks absent."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    except OSError as error:
        return f"no file can be opened: {error.strerror}; raise the limit (ulimit -n)"
    return None
