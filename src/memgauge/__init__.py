"""Measure how fast a computer's memory really is, and where a program's memory traffic goes.

    >>> import memgauge
    >>> result = memgauge.survey(budget="30s")
    >>> print(result.text())

Everything is loaded on first use, so that importing the package is quick.
"""

# Also the start of the command line tool, which takes care of signals only after this: so not even
# typing is imported, which takes longer than all of this file. Types stand in the stub beside it.
_NAMES = (
    "MemgaugeError",
    "Result",
    "add_to_store",
    "combined",
    "compare",
    "counters",
    "counters_compare",
    "counters_verify",
    "diagnose",
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
    "tool_output",
    "traffic",
    "trend",
    "watch",
)
"""Beside these there is a function for each experiment of a survey, such as `memgauge.stream`."""


def __getattr__(name: str) -> object:
    if name in _NAMES:
        from memgauge import api, signatures
        from memgauge.model import errors

        found = getattr(errors if name == "MemgaugeError" else api, name)
        return signatures.described(name, found)
    if name == "__all__":
        return __dir__()
    if not name.startswith("_") and name in __dir__():
        from memgauge.api import experiment
        from memgauge.signatures import described

        return described(name, experiment(name))
    raise AttributeError(f"module 'memgauge' has no attribute {name!r}")


def __dir__() -> list[str]:
    from memgauge.model.experiments import SURVEYED

    return sorted([*_NAMES, *SURVEYED])
