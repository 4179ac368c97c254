"""Every command under limits, without rights, on full disks and in old locales.

    python -m tests.integration.hostile.hostile_settings [-v] [-s SETTING]... [COMMAND ...]

prints a table of settings, commands and exit codes, and says of each that did not answer why.
A command answers when it does what it is for, or ends with one line that says why not and with an
exit code that is documented; never by a signal, with a traceback, or not at all.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.integration.hostile.everyones_python import NOBODY, EveryonesPython, everyones_python
from tests.unit.analysis import runs

from memgauge.model.experiments import SURVEYED_COMMANDS
from memgauge.model.storage.run_writer import RunWriter

LIMIT_S = 240
DOCUMENTED = frozenset({0, 1, 2, 3, 4, 125, 126, 127, 130, 128 + signal.SIGXCPU})
MPI_SPEAKS = ("MPI_INIT", "MPI_Init", "PMIX ERROR", "*** Process received signal ***", "[err] ")
"""An MPI library that cannot start says so in its own words and ends the process."""
LAUNCHER_RULE = "-" * 70
"""Open MPI's launcher puts each of its own messages between two such lines."""
BUDGET = "--budget 1s --sweep coarse --threads 1 --output {out}/run"

COMMANDS: dict[str, str] = {
    "version": "--version",
    "help": "--help",
    "survey --help": "survey --help",
    **{name: f"{name} --budget 1s --output {{out}}/run" for name in SURVEYED_COMMANDS},
    "survey": "survey --budget 2s --threads 1 --output {out}/run",
    "stream": f"stream {BUDGET} --array-bytes 8MiB",
    "stream, no --output": "stream --budget 1s --threads 1 --kernel copy --array-bytes 8MiB",
    "workingset": f"workingset {BUDGET}",
    "loaded": f"loaded {BUDGET}",
    "mix": f"mix {BUDGET}",
    "transfers": "transfers --memory cuda:0 --budget 1s --output {out}/run",
    "traffic": "traffic copy --sizes 10000 --budget 1s --output {out}/run",
    "simulate": "simulate -- true",
    "machines": "machines",
    "fft3d": "fft3d --size 8 --repetitions 1 --output {out}/run",
    "mpirun fft3d": "fft3d --size 8 --repetitions 1 --output {out}/run",
    "cluster": "cluster --only latency --budget 10s --output {out}/run",
    "mpirun cluster": "cluster --only latency --budget 10s --output {out}/run",
    "system": "system",
    "system --clean": "system --clean",
    "counters": "counters",
    "counters explain": "counters explain perf:page-faults",
    "counters verify": "counters verify --budget 1s --output {out}/run",
    "counters compare": "counters compare perf pcp --budget 1s --output {out}/run",
    "profile": "profile --output {out}/run -- true",
    "watch": "watch --for 1s --output {out}/run",
    "region": "region",
    "report": "report {run}",
    "report --format html": "report --format html {run}",
    "compare": "compare {run} {run}",
    "compare --html": "compare {run} {run} --html {out}/page.html",
    "trend": "trend --add-to {out}/store {run}",
    "figures": "figures --output {out}/figures {run}",
    "export": "export {run}",
    "export --output": "export --format json --output {out}/samples.json {run}",
    "export parquet": "export --format parquet --output {out}/samples.parquet {run}",
    "schema": "schema",
}
"""By name, the arguments; `{run}` is a recorded run, `{out}` a directory to write into."""


class Setting(NamedTuple):
    """What a command finds around it: shell that root runs before, and shell of the user's."""

    before: str = ""
    """In a mount namespace of its own."""
    limits: str = ""
    """As user 65534, in front of the command."""
    environment: Mapping[str, str] = {}
    own_user: int = NOBODY


def _full(directory: str) -> str:
    """A file system without a free byte over a directory, in which the run lies."""
    return (
        "cp -r {run} {base}/spare && "
        f"mount -t tmpfs -o size=2m,mode=1777 none {directory} && "
        f"cp -r {{base}}/spare {directory}/given && chmod -R a+rwX {directory}/given && "
        f"{{{{ head -c 4m /dev/zero >{directory}/filler 2>/dev/null || :; }}}}"
    )


SETTINGS: dict[str, Setting] = {
    "another user": Setting(),
    "read-only home": Setting(
        before="mount --bind {home} {home} && mount -o remount,bind,ro {home}", limits="cd {home}"
    ),
    "full disk": Setting(
        before=_full("{full}"),
        limits="cd {full}",
        environment={"HOME": "{full}", "TMPDIR": "{full}", "OUT": "{full}", "RUN": "{full}/given"},
    ),
    "ulimit -n 8": Setting(limits="ulimit -n 8"),
    "ulimit -n 16": Setting(limits="ulimit -n 16"),
    "ulimit -u 1": Setting(limits="ulimit -u 1", own_user=64123),
    "ulimit -s 128": Setting(limits="ulimit -s 128"),
    "ulimit -v 300000": Setting(limits="ulimit -v 300000"),
    "ulimit -v 500000": Setting(limits="ulimit -v 500000"),
    "ulimit -v 1000000": Setting(limits="ulimit -v 1000000"),
    "ulimit -v 2000000": Setting(limits="ulimit -v 2000000"),
    "ulimit -d 200000": Setting(limits="ulimit -d 200000"),
    "ulimit -f 0": Setting(limits="ulimit -f 0"),
    "ulimit -f 8": Setting(limits="ulimit -f 8"),
    "ulimit -t 2": Setting(limits="ulimit -t 2"),
    "ulimit -l 0": Setting(limits="ulimit -l 0"),
    "ulimit -m 1000": Setting(limits="ulimit -m 1000"),
    "ulimit -c 0": Setting(limits="ulimit -c 0"),
    "TMPDIR missing": Setting(environment={"TMPDIR": "/nonexistent/place"}),
    "TMPDIR a file": Setting(environment={"TMPDIR": "/etc/passwd"}),
    "TMPDIR not writable": Setting(environment={"TMPDIR": "/proc"}),
    "HOME missing": Setting(environment={"HOME": "/nonexistent/home"}),
    "HOME unset": Setting(limits="unset HOME", own_user=64123),
    "XDG relative": Setting(
        environment={f"XDG_{one}_HOME": "relative/x" for one in ("CACHE", "STATE", "CONFIG")},
    ),
    "XDG not writable": Setting(
        environment={f"XDG_{one}_HOME": "/proc" for one in ("CACHE", "STATE", "CONFIG")},
    ),
    "directory deleted": Setting(
        limits="mkdir {out}/gone && cd {out}/gone && rmdir {out}/gone",
    ),
    "directory unreadable": Setting(
        limits="mkdir {out}/dark && cd {out}/dark && chmod 0 {out}/dark"
    ),
    "latin-1": Setting(environment={"PYTHONIOENCODING": "latin-1"}),
    "ascii": Setting(environment={"PYTHONIOENCODING": "ascii"}),
    "LANG=C": Setting(
        environment={"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ),
}


class Answer(NamedTuple):
    """How a command ended."""

    code: int | None
    """None: it did not end."""
    output: str
    errors: str
    of_mpi: bool
    """Whether an MPI library may be what ended it,"""
    of_launcher: bool
    """or an MPI launcher, before it started anything,"""
    of_program: bool
    """or the exit code may be that of a program that it started."""

    @property
    def fault(self) -> str | None:
        """Why this is no answer; None where it is one."""
        if self.code is None:
            return "did not end"
        for trace in ("Traceback", "panicked", "stack trace", "Exception ignored"):
            if trace in self.errors:
                return trace
        if self.code and (self._mpi_says_why or self._launcher_ended):
            return None
        if self.code not in DOCUMENTED:
            return f"exit code {self.code}"
        if self.code and not self.of_program and not self._says_why:
            return "failed without a word"
        return None

    @property
    def _mpi_says_why(self) -> bool:
        return self.of_mpi and any(words in self.errors for words in MPI_SPEAKS)

    @property
    def _launcher_ended(self) -> bool:
        """With a message of its own, or, as under a small stack, by a signal without a word."""
        return self.of_launcher and (LAUNCHER_RULE in self.errors or not self.errors.strip())

    @property
    def _says_why(self) -> bool:
        """Of the nodes of a cluster each has a line."""
        return any(
            line.startswith(("memgauge: ", "cluster: ")) for line in self.errors.splitlines()
        )

    @property
    def last_line(self) -> str:
        """What it said last."""
        lines = self.errors.strip().splitlines()
        return lines[-1] if lines else ""


class Machine(NamedTuple):
    """Directories that user 65534 may enter, with a recorded run."""

    base: Path
    python: EveryonesPython

    def answer(self, setting: Setting, name: str) -> Answer:
        """Let the command of that name be what a setting makes of it."""
        places = {one: self.base / one for one in ("home", "out", "run", "full")}
        for one in ("home", "out", "full", "spare"):
            shutil.rmtree(self.base / one, ignore_errors=True)
        for one in ("home", "out", "full"):
            places[one].mkdir()
            os.chown(places[one], setting.own_user, setting.own_user)
        named = {one: str(place) for one, place in places.items()} | {"base": str(self.base)}
        given = {one: text.format(**named) for one, text in setting.environment.items()}
        named |= {"out": given.get("OUT", named["out"]), "run": given.get("RUN", named["run"])}
        script = self._script(setting, name, named)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": named["home"],
            "LANG": "C.UTF-8",
            **self.python.environment,
            **given,
        }
        code, output, errors = _ended(["unshare", "--mount", "bash", "-c", script], environment)
        return Answer(
            code,
            output,
            errors,
            of_mpi="fft3d" in name or "cluster" in name,
            of_launcher=name.startswith("mpirun"),
            of_program=name in {"simulate", "profile"},
        )

    def _script(self, setting: Setting, name: str, named: Mapping[str, str]) -> str:
        """Root's part, then the user's."""
        before = ["mpirun", "-n", "1"] if name.startswith("mpirun") else []
        words = shlex.join([*before, self.python.executable, "-m", "memgauge"])
        last = f"exec {words} {COMMANDS[name].format(**named)}"
        mine = " && ".join(filter(None, [setting.limits.format(**named), last]))
        user = str(setting.own_user)
        become = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "bash", "-c", mine]
        original = dict(named) | {"run": str(self.base / "run")}
        prepare = setting.before.format(**original) or ":"
        return f"{prepare} && cd {named['out']} && exec {shlex.join(become)}"


def _ended(words: list[str], environment: Mapping[str, str]) -> tuple[int | None, str, str]:
    """Exit code, standard output and errors; None: it did not end in time."""
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as late:
        return None, "", (late.stderr or b"").decode(errors="replace")
    output, errors = (one.decode(errors="replace") for one in (done.stdout, done.stderr))
    return done.returncode, output, errors


def lacking() -> str | None:
    """Why settings cannot be made here; None where they can."""
    if os.geteuid() != 0:
        return "only root can become another user and mount a full disk"
    for tool in ("unshare", "setpriv"):
        if shutil.which(tool) is None:
            return f"needs {tool} (Debian: apt-get install util-linux)"
    tried = subprocess.run(
        ["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"],
        capture_output=True,
        check=False,
    )
    return None if tried.returncode == 0 else "no mount namespace can be made here"


@contextmanager
def machine() -> Iterator[Machine | None]:
    """A place for it all; None where no Python is everyone's."""
    with tempfile.TemporaryDirectory(prefix="memgauge-hostile-") as directory:
        base = Path(directory)
        base.chmod(0o755)
        python = everyones_python(base)
        if python is None:
            yield None
            return
        with RunWriter(base / "run") as writer:
            writer.write(runs.records(rounds=20))
        for one in (base / "run", *(base / "run").iterdir()):
            one.chmod(0o777)
        yield Machine(base, python)


def main() -> int:
    """Print the table; 1 where a command did not answer."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-s", action="append", help="settings whose names contain this")
    parser.add_argument("-v", action="store_true", help="what each said last")
    parser.add_argument("commands", nargs="*", default=[])
    requested = parser.parse_args()
    reason = lacking()
    if reason is not None:
        sys.exit(reason)
    faults = 0
    with machine() as place:
        assert place is not None
        for name, setting in SETTINGS.items():
            if requested.s and not any(part in name for part in requested.s):
                continue
            for command in requested.commands or COMMANDS:
                answer = place.answer(setting, command)
                fault = answer.fault
                faults += fault is not None
                said = answer.last_line if requested.v or fault else ""
                row = f"{name:22} {command:22} {answer.code!s:5} {fault or ''} {said}"
                sys.stdout.write(row.rstrip() + "\n")
                sys.stdout.flush()
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
