"""The way to Performance Co-Pilot's daemon: its client library, its host, why it does not answer.

The environment variable `MEMGAUGE_PCP_HOST` names the daemon as pmNewContext(3) has it: `local:`
(as without it), `unix:/PATH`, a host. The client library's own variables hold too: `PCP_CONF`,
`PMCD_SOCKET`, `PMCD_PORT`, `PMCD_REQUEST_TIMEOUT`, `PMCD_CONNECT_TIMEOUT`.
"""

from __future__ import annotations

import os
import platform
import time
from functools import cache

import msgspec

from memgauge import _core
from memgauge.counters.base import Probe
from memgauge.model.errors import RequestError

HOST_VARIABLE = "MEMGAUGE_PCP_HOST"
DEFAULT_HOST = "local:"
LIBRARIES = ("libpcp.so.4", "libpcp.so.3")
"""Of PCP 7, and of PCP 3 to 6."""
START = "start pmcd (systemctl start pmcd; Debian: apt-get install pcp)"
PERMIT = "have its administrator allow fetches in the [access] section of pmcd.conf"
_NOT_PERMITTED = "No permission"
_NO_ANSWER_S = 0.9
"""A failure that took longer was the end of waiting."""


class Failure(msgspec.Struct, frozen=True):
    """Why the daemon cannot be asked."""

    probe: Probe

    def __str__(self) -> str:
        remedy = f"; {self.probe.remedy}" if self.probe.remedy else ""
        return f"{self.probe.reason}{remedy}"


class Client(msgspec.Struct, frozen=True, kw_only=True):
    """A daemon that answers."""

    library: _core.PcpLibrary
    directory: _core.PcpDirectory
    host: str
    machine: str
    """Whose metrics they are, by the daemon; empty: not known."""

    @property
    def is_local(self) -> bool:
        """Whether it is this machine's daemon."""
        if self.host.startswith(("local:", "unix:")):
            return True
        return self.machine.partition(".")[0].lower() == platform.node().partition(".")[0].lower()


def connect() -> Client | Failure:
    """Ask the daemon that the environment names. Waits for a second at most, locally."""
    host = os.environ.get(HOST_VARIABLE) or DEFAULT_HOST
    begin = time.monotonic()
    try:
        library = _library(LIBRARIES)
    except RequestError as error:
        return _failure(error)
    try:
        directory = _core.PcpDirectory(library, host)
    except RequestError as error:
        hangs = time.monotonic() - begin > _NO_ANSWER_S
        return _hanging(host) if hangs else _failure(error)
    return Client(library=library, directory=directory, host=host, machine=directory.host_name())


@cache
def _library(files: tuple[str, ...]) -> _core.PcpLibrary:
    return _core.PcpLibrary(files)


def _failure(error: RequestError) -> Failure:
    """The core says what to install where something is missing, after a semicolon."""
    reason, missing, remedy = str(error).partition("; ")
    if missing:
        return Failure(Probe(state="absent", reason=reason, remedy=remedy))
    remedy = PERMIT if _NOT_PERMITTED in reason else START
    return Failure(Probe(state="refused", reason=reason, remedy=remedy))


def _hanging(host: str) -> Failure:
    return Failure(
        Probe(
            state="refused",
            reason=f"pmcd at {host} does not answer in time: it is stopped or overloaded",
            remedy="look at it (systemctl status pmcd), or allow more time by PMCD_CONNECT_TIMEOUT",
        )
    )
