"""Writes a run: whole lines, appended as they are produced; a kill loses only the current one."""

import errno
import fcntl
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from memgauge.model.errors import MemgaugeError, RequestError, SystemFailure
from memgauge.model.records import AnyRecord, RunEnd
from memgauge.model.rules import StreamRules
from memgauge.model.storage.codec import encode
from memgauge.model.storage.run_directory import failure, refused
from memgauge.model.storage.run_reader import RECORDS_NAME, open_records, read_stream
from memgauge.model.text import shown

_NO_LOCKS = {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK}


class RunWriter:
    """Appends records to the run in a directory, alone: a second writer is refused.

    Raises:
        RequestError: the directory already contains a run or other files, cannot be written, or
            another process is writing the run.
        RunFileError: the run to resume cannot be read.
        SystemFailure: the disk is full or failing.
    """

    def __init__(self, directory: str | os.PathLike[str], *, resume: bool = False) -> None:
        self.directory = Path(directory)
        self.path = self.directory / RECORDS_NAME
        self._rules = StreamRules()
        self._failed = False
        self._over = False
        self._closed = False
        self._made = [] if resume else self._make_directory()
        self._fd = self._open(resume)
        try:
            self._lock()
            if resume:
                self._continue()
        except BaseException:
            os.close(self._fd)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def write(self, records: Iterable[AnyRecord]) -> None:
        """Append the records; on return, the kernel has accepted all of them.

        If this fails, the lines that were written completely are kept, and only an `end` is
        accepted afterwards, which is not written where no line was kept.

        Raises:
            SystemFailure: the disk is full or failing; the message states what was kept.
            MemgaugeError: a record is out of place or not encodable, a defect; nothing was written.
        """
        records = list(records)
        ending = all(isinstance(record, RunEnd) for record in records)
        if self._closed or self._over or (self._failed and not ending):
            raise SystemFailure(f"{shown(self.path)}: the run has ended; resume it to add records")
        if self._failed and os.fstat(self._fd).st_size == 0:
            return  # an `end` alone is no run
        data = self._encode(records)
        self._append(data, ends=bool(records) and isinstance(records[-1], RunEnd))

    def close(self) -> None:
        """Flush to the disk and close the run; a run without records is removed."""
        if self._closed:
            return
        self._closed = True
        empty = os.fstat(self._fd).st_size == 0
        try:
            if empty:
                self._remove()
            else:
                os.fsync(self._fd)
        except OSError as error:
            raise failure(self.path, error) from error
        finally:
            os.close(self._fd)

    def _make_directory(self) -> list[Path]:
        """Create the directory, or accept an empty one.

        Return the created ones, innermost first.
        """
        try:
            missing = [
                path for path in (self.directory, *self.directory.parents) if not path.exists()
            ]
            self.directory.mkdir(parents=True, exist_ok=True)
            inside = [entry.name for entry in self.directory.iterdir()]
        except (OSError, ValueError) as error:
            raise refused(self.directory, error) from error
        if RECORDS_NAME in inside:
            raise self._taken()
        if inside:
            raise RequestError(
                f"{shown(self.directory)}: neither empty nor a run; name a new or empty directory"
            )
        return missing

    def _open(self, resume: bool) -> int:
        if resume:
            open_records(self.path).close()
        # O_NOFOLLOW: a run from elsewhere must not steer what is written outside of it.
        flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        flags |= 0 if resume else os.O_CREAT | os.O_EXCL
        try:
            return os.open(self.path, flags, 0o666)
        except FileExistsError as error:  # another process has just begun a run here
            raise self._taken() from error
        except OSError as error:
            raise refused(self.directory, error) from error

    def _taken(self) -> RequestError:
        return RequestError(
            f"{shown(self.directory)}: already holds a run; resume it or name another directory"
        )

    def _lock(self) -> None:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RequestError(
                f"{shown(self.directory)}: another memgauge is writing this run; wait until it "
                "ends, "
                "or name another directory"
            ) from None
        except OSError as error:
            # Some cluster file systems have no locks; a run there is protected by its new name.
            if error.errno not in _NO_LOCKS:
                raise failure(self.path, error) from error

    def _continue(self) -> None:
        """Follow the run so far and cut off a torn last line."""
        if not stat.S_ISREG(os.fstat(self._fd).st_mode):
            raise RequestError(f"{shown(self.path)}: not a regular file; name another run")
        with open_records(self.path) as file:
            run = read_stream(file, self.path)
        seen: list[AnyRecord] = [*run.starts, *run.points.values()]
        for record in seen:
            self._rules.check(record)
        self._cut(_whole_bytes(self._fd))

    def _encode(self, records: list[AnyRecord]) -> bytes:
        lines = []
        for record in records:
            try:
                if not self._failed:
                    self._rules.check(record)
                lines.append(encode(record))
            except ValueError as error:
                self._failed = True
                raise MemgaugeError(
                    f"{shown(self.path)}: a {type(record).__name__} {error}; this is a defect of "
                    "memgauge, please report it; what was measured before is kept"
                ) from error
        return b"".join(lines)

    def _append(self, data: bytes, *, ends: bool) -> None:
        begin = os.fstat(self._fd).st_size
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        except BaseException as error:
            # Also on Ctrl-C between two parts of a write: the file's size shows what was written.
            self._failed = True
            arrived = os.fstat(self._fd).st_size - begin
            self._over = ends and arrived == len(data)
            self._cut(begin + data.rfind(b"\n", 0, arrived) + 1)
            if isinstance(error, OSError):
                raise failure(self.path, error) from error
            raise

    def _cut(self, size: int) -> None:
        try:
            os.ftruncate(self._fd, size)
        except OSError as error:
            self._over = True
            raise failure(self.path, error) from error

    def _remove(self) -> None:
        self.path.unlink(missing_ok=True)
        with suppress(OSError):  # another run may have been created beside this one since
            for directory in self._made:
                directory.rmdir()


def _whole_bytes(fd: int) -> int:
    """Length of the file up to its last line feed."""
    end = os.fstat(fd).st_size
    while end:
        begin = max(0, end - (1 << 20))
        feed = os.pread(fd, end - begin, begin).rfind(b"\n")
        if feed >= 0:
            return begin + feed + 1
        end = begin
    return 0
