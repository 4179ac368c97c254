"""The first rank of a node: runs its survey, reports that it is alive, and delivers the results."""

from __future__ import annotations

import time
import zlib
from contextlib import suppress
from pathlib import Path

from memgauge.cluster.combined import write_figures
from memgauge.cluster.mailbox import Mailbox
from memgauge.cluster.messages import (
    PIECE_BYTES,
    SENT_FILES,
    Alive,
    Finished,
    Piece,
    Ready,
    Role,
)
from memgauge.cluster.nodes import take_cpus
from memgauge.cluster.survey_child import SurveyChild
from memgauge.model.errors import ExitCode, MemgaugeError
from memgauge.model.storage.cluster import (
    LAST_WORD,
    State,
    log_path,
    node_directory,
    read_manifest,
)
from memgauge.model.storage.files import open_appending
from memgauge.model.storage.run_file import RECORDS_NAME
from memgauge.model.text import plain


class Leader:
    """Runs the survey of this rank's node in steps; nothing here waits."""

    def __init__(self, mailbox: Mailbox, arguments: list[str], role: Role) -> None:
        self._mailbox = mailbox
        self._arguments = arguments
        self._name = role.name
        self._alive_every_s = role.alive_every_s
        self._directory = Path(role.directory)
        self._sees = _sees(self._directory, role.cluster_id)
        self._child: SurveyChild | None = None
        self._told_s = 0.0
        cpus, why = take_cpus(role.bound)
        mailbox.send(
            0,
            Ready(
                cpus=cpus,
                cpus_why=why,
                sees_directory=self._sees,
                directory=None if self._sees else str(self._place.absolute()),
            ),
        )

    @property
    def _place(self) -> Path:
        return node_directory(self._directory, self._name)

    @property
    def _log(self) -> Path:
        return log_path(self._directory, self._name)

    def begin(self) -> None:
        """Start the survey."""
        arguments = [*self._arguments, "--output", str(self._place)]
        try:
            self._child = SurveyChild(arguments, self._log)
        except MemgaugeError as error:
            self._mailbox.send(
                0, Finished(state="failed", why=str(error), exit_code=None, elapsed_s=0.0)
            )

    def step(self) -> None:
        """Report that the survey continues, or deliver its results."""
        child = self._child
        if child is None:
            return
        code = child.poll()
        now_s = time.monotonic()
        if code is not None:
            self._child = None
            self._finish(child, code)
        elif now_s - self._told_s > self._alive_every_s:
            self._told_s = now_s
            self._mailbox.send(0, Alive())

    def stop(self, wait_s: float, why: str) -> None:
        """End the survey, which closes its records, and record that the end was ordered."""
        child, self._child = self._child, None
        if child is not None:
            child.stop(wait_s)
            with suppress(OSError), open_appending(self._log) as log:
                log.write(f"{LAST_WORD} {plain(why)}\n".encode())

    def _finish(self, child: SurveyChild, code: int) -> None:
        elapsed_s = child.elapsed_s
        state, why = _ending(code, child.last_line())
        if (self._place / RECORDS_NAME).is_file():
            missing = write_figures(self._place)
            why = why or missing
            state = "failed" if missing and state == "done" else state
        if not self._sees:
            self._send_files()
        self._mailbox.send(0, Finished(state=state, why=why, exit_code=code, elapsed_s=elapsed_s))

    def _send_files(self) -> None:
        for name in SENT_FILES:
            path = self._place / name
            if path.is_file():
                _send_file(self._mailbox, path)


def _send_file(mailbox: Mailbox, path: Path) -> None:
    """Send a file in pieces that decompress independently.

    MPI delivers messages of a rank in order.
    """
    with path.open("rb") as file:
        is_first = True
        while (data := file.read(PIECE_BYTES)) or is_first:
            packed = zlib.compress(data, 1)
            mailbox.send(0, Piece(file=path.name, data=packed, is_first=is_first))
            is_first = False


def _sees(directory: Path, cluster_id: str) -> bool:
    """Whether this node shares rank 0's directory: the manifest there belongs to this job."""
    try:
        return read_manifest(directory).cluster_id == cluster_id
    except MemgaugeError:
        return False


def _ending(code: int, last_line: str) -> tuple[State, str | None]:
    if code in {ExitCode.DONE, ExitCode.VALIDATION_FAILED}:
        return "done", None
    said = f": {last_line}" if last_line else ""
    if code > 128:
        return "failed", f"its survey was killed by signal {code - 128}{said}"
    return "failed", f"its survey ended with exit code {code}{said}"
