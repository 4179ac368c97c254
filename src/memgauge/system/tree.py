"""Reads small files of sysfs and procfs below a root, which tests replace with a synthetic tree."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from memgauge.model.cpulist import parse_cpu_list

ROOT = Path("/")
MOST_BYTES = 16 << 20
"""Limit on a file's size, beyond any sysfs or procfs file of the largest machine or process."""
LARGEST_NUMBER = (1 << 63) - 1
"""Largest integer in records. The kernel writes larger ones where it means "no limit"."""
LARGEST_INDEX = (1 << 31) - 1
"""Largest number of a device, CPU or process that a file name may contain."""
_CHUNK_BYTES = 1 << 16
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
"""A FIFO in place of a file, as in a tree from elsewhere, must not block the reader."""


class Tree:
    """A file system root.

    A file that is missing, hidden or unreadable reads as None. So does anything that the kernel
    never provides there: a FIFO or device in place of a file, more than `MOST_BYTES`, numbers
    beyond 64 bits, and an impossible path, which another file may have named.
    """

    def __init__(self, root: Path = ROOT) -> None:
        self._prefix = str(root).rstrip("/")

    def path(self, path: str) -> Path:
        """The absolute `path` (`/sys/...`) below the root."""
        return Path(self._prefix + path)

    def raw(self, path: str) -> bytes | None:
        """Contents of the file."""
        try:
            # Unbuffered: a fifth of the time of Path.read_bytes, for thousands of files.
            descriptor = os.open(self._prefix + path, _FLAGS)
        except (OSError, ValueError):
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
        """A decimal number; None if the file contains something else."""
        text = self.text(path)
        try:
            return None if text is None else _within_64_bits(int(text))
        except ValueError:
            return None

    def quantity(self, path: str) -> int | None:
        """A non-negative number, decimal or as 0x...; None if the file contains something else."""
        try:
            number = _within_64_bits(int(self.text(path) or "", 0))
        except ValueError:
            return None
        return number if number is not None and number >= 0 else None

    def numbers(self, path: str) -> list[int] | None:
        """A CPU or node list in rising order; None where missing or malformed."""
        text = self.text(path)
        return None if text is None else sorted_numbers(text)

    def names(self, path: str) -> list[str]:
        """Names in a directory, sorted; none where it is missing.

        A name that is not UTF-8 is left out, because no record can contain it. Network interfaces
        and control groups may have such names.
        """
        try:
            found = os.listdir(self._prefix + path)  # noqa: PTH208
        except (OSError, ValueError):
            return []
        return sorted(name for name in found if name.isascii() or _is_unicode(name))

    def numbered(self, path: str, prefix: str) -> list[int]:
        """The numbers N of the entries `prefix`N of a directory, rising."""
        tails = (name[len(prefix) :] for name in self.names(path) if name.startswith(prefix))
        numbers = map(whole_number, tails)
        return sorted(one for one in numbers if one is not None and one <= LARGEST_INDEX)

    def exists(self, path: str) -> bool:
        """Whether the path exists and is visible."""
        return os.path.exists(self._prefix + path)  # noqa: PTH110

    def resolved(self, path: str) -> str | None:
        """The path with all symbolic links resolved; None if it does not exist.

        Absolute below the root, as `path` is.
        """
        if "\0" in path:
            return None
        real = os.path.realpath(self._prefix + path)
        root = os.path.realpath(self._prefix or "/").rstrip("/")
        if not os.path.exists(real) or not real.startswith(root + "/"):  # noqa: PTH110
            return None
        return real.removeprefix(root)

    def usable(self, path: str) -> bool:
        """Whether this process may read and write the path."""
        return "\0" not in path and os.access(self._prefix + path, os.R_OK | os.W_OK)

    def fields(self, path: str, separator: str = ":") -> dict[str, str]:
        """Lines `name: value` of a file; the first line of each name counts."""
        found: dict[str, str] = {}
        for line in (self.text(path) or "").splitlines():
            name, mark, value = line.partition(separator)
            if mark:
                found.setdefault(name.strip(), value.strip())
        return found


def _is_unicode(name: str) -> bool:
    """Whether a name from the system is free of bytes that could not be decoded."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def sorted_numbers(text: str) -> list[int] | None:
    """A CPU or node list of the kernel in rising order; None where malformed."""
    try:
        return sorted(parse_cpu_list(text))
    except ValueError:
        return None


def _read_all(descriptor: int) -> bytes | None:
    """Files of sysfs and procfs are regular ones, but their size is not known."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return None
    chunks: list[bytes] = []
    left = MOST_BYTES
    while chunk := os.read(descriptor, _CHUNK_BYTES):
        chunks.append(chunk)
        left -= len(chunk)
        if left < 0:
            return None
    return b"".join(chunks)


def whole_number(text: str | bytes, base: int = 10) -> int | None:
    """A non-negative number without a sign or prefix; None if the text is something else."""
    if not text.isascii() or not text.isalnum():
        return None
    try:
        return _within_64_bits(int(text, base))
    except ValueError:
        return None


def bytes_of_kib(text: str) -> int | None:
    """Bytes of a number of KiB, with or without its unit, as the kernel reports memory sizes."""
    words = text.split()
    number = whole_number(words[0]) if words else None
    return None if number is None else _within_64_bits(number << 10)


def _within_64_bits(number: int) -> int | None:
    return number if abs(number) <= LARGEST_NUMBER else None


def too_many_open() -> str | None:
    """The error raised if no more files can be opened, because existing files would look absent."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    except OSError as error:
        return f"no file can be opened: {error.strerror}; raise the limit (ulimit -n)"
    return None
