"""What the machine is and what is possible on it."""

from memgauge.model.callable_module import answer_calls

# `memgauge.system()` is the function of that name too.
answer_calls(__name__, "memgauge.system.detect", "detect")
