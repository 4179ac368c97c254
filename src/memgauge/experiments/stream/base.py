"""What `stream` on the host and on a GPU share: how kernels are measured, and what is warned of."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Generic

from memgauge import _core
from memgauge.experiments.shared.base import Bench, Experiment, Values
from memgauge.experiments.shared.native import to_sample, to_validation
from memgauge.experiments.stream import search as stream_search
from memgauge.experiments.stream.counted import CountedKernels
from memgauge.experiments.stream.kernels import Spec
from memgauge.experiments.stream.parameters import StreamParameters
from memgauge.experiments.stream.plan import KernelPoint, contests_of
from memgauge.model.memory import names_gpu
from memgauge.model.points.gpu import GpuDevice
from memgauge.model.points.stream import StreamActual, StreamRequested
from memgauge.model.records import Point, Sample, Validation, Warning
from memgauge.model.system import System


class StreamBench(Bench, Generic[Spec]):
    """Arrays with the kernels that walk them."""

    def __init__(
        self,
        kernels: Sequence[KernelPoint[Spec]],
        validated: Callable[[], Sequence[_core.ArrayValidation]],
        subject: str,
        counted: CountedKernels[Spec] | None,
    ) -> None:
        """Take prepared points, the check of the arrays and what its result is called."""
        self._contests = contests_of(kernels)
        self._kernels = {one.point.point: one for one in kernels}
        self._validated = validated
        self._subject = subject
        self._counted = counted
        self.counters = [counted.set] if counted else []
        self.points = [one.point for one in kernels]

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Time one slice, or one pass over all arrays, or count repeated passes."""
        measured = self._kernels[point]
        if self._counted is not None and measured.point.role == "counted":
            return [self._counted.measure(measured.kernel.spec, point, round_)]
        return [to_sample(point, round_, self.walk(measured))]

    @abstractmethod
    def walk(self, measured: KernelPoint[Spec]) -> _core.Slice:
        """Time one slice or one pass."""

    def eliminated(self, values: Values) -> set[str]:
        """Candidates that the search has ruled out."""
        return stream_search.eliminated(self._contests, values)

    def validate(self) -> list[Validation]:
        """Check all three arrays."""
        return [to_validation("stream", self._subject, self._validated())]


class StreamExperiment(Experiment):
    """The `stream` experiment, wherever its arrays lie."""

    name: ClassVar[str] = "stream"
    parameters: ClassVar[type[StreamParameters]] = StreamParameters

    def check(self, point: Point, elapsed_ns: Sequence[int], system: System) -> list[Warning]:
        """Arrays of whole passes that do not keep the STREAM rule, as far as that is known.

        Args:
            point: The point; only those of the role `pass` are warned of.
            elapsed_ns: Not used; the facts of the point suffice.
            system: Not used either.
        """
        del elapsed_ns, system
        actual = StreamActual.of(point.actual)
        if actual.stream_conformant or point.role != "pass":
            return []
        caches, cache_bytes = "last-level caches used", actual.llc_bytes
        if names_gpu(StreamRequested.of(point.requested).memory):
            caches, cache_bytes = "GPU's second-level cache", GpuDevice.of(point.actual).l2_bytes
        why = (
            f"are not known to be four times the {caches}, whose size is not known"
            if cache_bytes is None
            else f"are smaller than four times the {caches} ({cache_bytes} B) or a million elements"
        )
        return [
            Warning(
                code="not-stream-conformant",
                message=f"arrays of {actual.array_bytes} B {why}",
                remedy="omit --array-bytes, or increase it",
                experiment="stream",
                point=point.point,
            )
        ]
