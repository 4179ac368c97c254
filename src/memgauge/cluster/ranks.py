"""The loop of every rank: report its node, follow orders, sleep in between, leave.

A rank that does not lead its node sleeps a quarter of a second between two polls of its mailbox,
each of which takes some 20 us. No rank spins, so the measurement has the node to itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from memgauge.cluster.combined import CombinedRun, load_combined
from memgauge.cluster.gatherer import Gatherer
from memgauge.cluster.leader import Leader
from memgauge.cluster.mailbox import Mailbox
from memgauge.cluster.messages import AnyMessage, Begin, Bye, Leave, Role
from memgauge.cluster.mpi import StartedMpi
from memgauge.cluster.nodes import hello
from memgauge.model.errors import ExitCode, MemgaugeError, SystemFailure
from memgauge.model.storage.cluster import Manifest

GATHER_EVERY_S = 0.05
LEAD_EVERY_S = 0.1
SLEEP_S = 0.25
FAREWELL_S = 5.0
"""Most seconds that rank 0 waits until its last messages are sent."""
STOP_S = 0.5
"""Seconds for a survey to close its records; mpirun sends SIGKILL a second after SIGTERM."""
FIRST_WORD_S = 300.0
"""How long a rank waits for an order."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The result of rank 0."""

    exit_code: int
    combined: CombinedRun
    unresponsive: list[int] = []
    """Ranks that do not respond, so that the job must be aborted instead of ended in order."""


class Rank:
    """One rank of the job."""

    def __init__(self, world: StartedMpi, arguments: list[str]) -> None:
        self._mailbox = Mailbox(world)
        self._arguments = arguments
        """Arguments of each node's survey, except for its directory."""
        self._leader: Leader | None = None
        self._leaves = False
        self._gone: set[int] = set()
        """Ranks that acknowledged the order to leave."""
        self._until_s = time.monotonic() + FIRST_WORD_S

    def follow(self) -> None:
        """Follow the orders of rank 0 until it orders to leave; for all ranks except 0.

        Raises:
            SystemFailure: rank 0 sent no message for longer than the job may take.
            KeyboardInterrupt: the launcher ended the job; the survey has closed its records.
        """
        try:
            self._mailbox.send(0, hello())
            while not self._leaves:
                self._handle()
                _refuse_to_wait_beyond(self._until_s)
                time.sleep(SLEEP_S if self._leader is None else LEAD_EVERY_S)
        except BaseException as error:
            self._stop(error)
            raise
        self._mailbox.send(0, Bye())
        self._drain()

    def gather(self, manifest: Manifest, directory: Path, say: Callable[[str], None]) -> Outcome:
        """Run as rank 0: the whole job, and the combined run at its end.

        Args:
            manifest: Manifest of the job as it begins, still without nodes.
            directory: Absolute path of the combined run, which contains the manifest.
            say: Shows the user one line of progress.

        Raises:
            KeyboardInterrupt: the launcher ended the job; manifest and report are written.
        """
        gatherer = Gatherer(self._mailbox, manifest, directory, say)
        try:
            self._mailbox.send(0, hello())
            while not gatherer.is_over:
                self._handle(gatherer)
                gatherer.step()
                time.sleep(GATHER_EVERY_S)
        except KeyboardInterrupt as error:
            by = str(error) or "Ctrl-C"
            # At once: a launcher waits only a second, and the survey may take half of it.
            say(
                f"ended by {by}: the results so far are kept; show them with memgauge report "
                f"{directory}"
            )
            self._stop(error)
            gatherer.close(f"the job was ended by {by}")
            _save_what_is_there(directory, say)
            raise
        except BaseException as error:
            self._stop(error)
            raise
        gatherer.close()
        combined = load_combined(directory)
        combined.save()
        return Outcome(
            exit_code=exit_code(combined),
            combined=combined,
            unresponsive=self.dismiss(),
        )

    def _handle(self, gatherer: Gatherer | None = None) -> None:
        for rank, message in self._mailbox.receive():
            if isinstance(message, Bye):
                self._gone.add(rank)
            elif not self._obey(message) and gatherer is not None:
                gatherer.hear(rank, message)
        if self._leader is not None:
            self._leader.step()

    def _obey(self, message: AnyMessage) -> bool:
        """Handle a message of rank 0; False if it is something else."""
        match message:
            case Role():
                self._until_s = time.monotonic() + message.give_up_s
                if message.leads:
                    self._leader = Leader(self._mailbox, self._arguments, message)
            case Begin() if self._leader is not None:
                self._leader.begin()
            case Leave():
                self._leaves = True
                if self._leader is not None:
                    self._leader.stop(STOP_S, "the time of the job is over")
            case _:
                return False
        return True

    def dismiss(self) -> list[int]:
        """Order all ranks to leave; return those that do not acknowledge it.

        Finalizing MPI waits for all ranks; with a dead rank, it would wait forever.
        """
        for rank in range(self._mailbox.size):
            self._mailbox.send(rank, Leave())
        until_s = time.monotonic() + FAREWELL_S
        others = set(range(self._mailbox.size)) - {self._mailbox.rank}
        while others - self._gone and time.monotonic() < until_s:
            self._handle()
            time.sleep(GATHER_EVERY_S)
        return sorted(others - self._gone)

    def _drain(self) -> None:
        until_s = time.monotonic() + FAREWELL_S
        while self._mailbox.unsent and time.monotonic() < until_s:
            self._mailbox.receive()
            time.sleep(GATHER_EVERY_S)

    def _stop(self, why: BaseException) -> None:
        if self._leader is not None:
            self._leader.stop(STOP_S, str(why) or type(why).__name__)


def _refuse_to_wait_beyond(until_s: float) -> None:
    if time.monotonic() > until_s:
        raise SystemFailure(
            "cluster: rank 0, which collects all results, sent no message; the results of this "
            "node are in its own directory"
        )


def exit_code(combined: CombinedRun) -> ExitCode:
    """The exit code: success only if every node is done.

    A failed validation is reported as such.
    """
    nodes = combined.cluster.manifest.nodes
    if any(node.exit_code == ExitCode.VALIDATION_FAILED for node in nodes):
        return ExitCode.VALIDATION_FAILED
    whole = all(node.state == "done" for node in nodes) and not combined.cluster.missing
    return ExitCode.DONE if whole and not combined.cluster.manifest.unheard else ExitCode.FAILED


def _save_what_is_there(directory: Path, say: Callable[[str], None]) -> None:
    """Write the report of a job that was ended; if killed meanwhile, it can be rendered later."""
    try:
        load_combined(directory, ending=True).save()
    except MemgaugeError as error:
        say(str(error))
