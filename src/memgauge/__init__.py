"""Measure how fast a computer's memory really is, and where a program's memory traffic goes.

    >>> import memgauge
    >>> result = memgauge.survey(budget="30s")
    >>> print(result.text())

Everything is loaded on first use, so that importing the package is quick.
"""

# Also the start of the command line tool, which takes care of signals only after this: so not even
# typing is imported, which takes longer than all of this file.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memgauge.api import combined as combined
    from memgauge.api import compare as compare
    from memgauge.api import counters as counters
    from memgauge.api import counters_compare as counters_compare
    from memgauge.api import counters_verify as counters_verify
    from memgauge.api import events as events
    from memgauge.api import load as load
    from memgauge.api import machine as machine
    from memgauge.api import profile as profile
    from memgauge.api import published as published
    from memgauge.api import region as region
    from memgauge.api import repeat as repeat
    from memgauge.api import simulate as simulate
    from memgauge.api import survey as survey
    from memgauge.api import survey_plan as survey_plan
    from memgauge.api import system as system
    from memgauge.api import traffic as traffic
    from memgauge.model.errors import MemgaugeError as MemgaugeError
    from memgauge.results import Result as Result

    __all__: list[str]

_NAMES = (
    "MemgaugeError",
    "Result",
    "combined",
    "compare",
    "counters",
    "counters_compare",
    "counters_verify",
    "events",
    "load",
    "machine",
    "profile",
    "published",
    "region",
    "repeat",
    "simulate",
    "survey",
    "survey_plan",
    "system",
    "traffic",
)
"""Beside these there is a function for each experiment of a survey, such as `memgauge.stream`."""


if TYPE_CHECKING:

    def __getattr__(name: str) -> "Callable[..., Result]": ...

else:

    def __getattr__(name: str) -> object:
        if name in _NAMES:
            from memgauge import api
            from memgauge.model import errors

            return getattr(errors if name == "MemgaugeError" else api, name)
        if name == "__all__":
            return __dir__()
        if not name.startswith("_") and name in __dir__():
            from memgauge.api import experiment

            return experiment(name)
        raise AttributeError(f"module 'memgauge' has no attribute {name!r}")


def __dir__() -> list[str]:
    from memgauge.model.experiments import SURVEYED

    return sorted([*_NAMES, *SURVEYED])
