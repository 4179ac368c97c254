"""The only module that checks whether the native core is available."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memgauge.model.errors import RequestError, SystemFailure

if TYPE_CHECKING:
    from types import ModuleType

_PERF_SOFTWARE, _PERF_DUMMY = 1, 9
"""PERF_TYPE_SOFTWARE and PERF_COUNT_SW_DUMMY of perf_event_open(2)."""


class Isas(NamedTuple):
    """Instruction sets of the kernels, or why none are available."""

    names: list[str]
    reason: str | None


def load_core() -> ModuleType:
    """The native core.

    Raises:
        SystemFailure: it was not built for this machine.
    """
    try:
        return import_module("memgauge._core")
    except ImportError as error:
        raise SystemFailure(
            f"nothing can be measured without the native core: {_reason(error)}; run 'pip install "
            ".' on this machine"
        ) from error


def installed_file(path: Path) -> Path | None:
    """A file of the installed package; an editable install keeps what was built beside the core.

    Args:
        path: Below the package's folder.

    Returns:
        None: there is no such file.
    """
    spec = find_spec("memgauge")
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()] if spec else []
    core = find_spec("memgauge._core")
    if core is not None and core.origin is not None:
        folders.append(Path(core.origin).parent)
    return next((folder / path for folder in folders if (folder / path).is_file()), None)


def load_isas() -> Isas:
    """Query the native core, best instruction set first.

    Without it, an empty list and the reason.
    """
    try:
        core = import_module("memgauge._core")
    except ImportError as error:
        return Isas([], _reason(error))
    return Isas(list(core.supported_isas()), None)


def perf_refusal() -> int | None:
    """How the kernel answers the smallest request for perf events: an event that counts nothing.

    0: it grants it; an errno: it, or a filter in front of it, does not; None: the core is missing.
    """
    try:
        core = import_module("memgauge._core")
    except ImportError:
        return None
    event = core.PerfEvent(_PERF_SOFTWARE, _PERF_DUMMY, exclude_kernel=True)
    return int(core.perf_refusal(event, pid=0))


def core_compiler() -> str | None:
    """The compiler the native core was built with; None where the core is missing."""
    try:
        return str(import_module("memgauge._core").compiler)
    except ImportError:
        return None


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """End what the core does for this thread in this context when the time is over.

    Args:
        seconds: From now on; what never looks for signals takes longer nevertheless.

    Raises:
        OutOfTime: it took longer; what was allocated until then is freed.
    """
    try:
        core = import_module("memgauge._core")
    except ImportError:
        yield
        return
    core.end_long_calls_in(seconds)
    try:
        yield
    finally:
        core.end_long_calls_in(None)


def refusal(name: str, error: ImportError) -> RequestError | None:
    """The message for a failed import of `name` if the native core is missing; otherwise None.

    If the module is missing altogether, `from memgauge import _core` blames the package.
    """
    if error.name not in {"memgauge", "memgauge._core"}:
        return None
    reason = load_isas().reason
    if reason is None:
        return None
    return RequestError(
        f"{name}: this installation has no native core, so it can render reports but not measure: "
        f"{reason}; install memgauge with a C++20 compiler at hand: pip install . in its source"
    )


def _reason(error: ImportError) -> str:
    return " ".join(str(error).split()) or "it cannot be imported"
