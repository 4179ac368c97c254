"""Best-of-N figures in the table form of STREAM, labelled as its run rules ask."""

from memgauge.analysis.figures.gpu_points import gpu_name, gpu_of
from memgauge.analysis.figures.run import Figures, figures_of
from memgauge.analysis.stream.figures import STANDARD, KernelResult, kernel_results
from memgauge.model.records import Validation
from memgauge.model.run import Run

STREAM_ORDER = ("copy", "scale", "add", "triad")
RULER = "-" * 61


def stream_form(run: Run) -> str:
    """One STREAM table for each variant, team and regime; says so where nothing was measured.

    The best of N whole passes over the arrays, the first left out, 1 MB = 1e6 bytes. Results of
    code that is not stream.c must be labelled as "based on a variant of the STREAM benchmark code"
    (STREAM's licence, paragraph 3b).
    """
    figures = figures_of(run)
    tables: dict[tuple[str | int, ...], dict[str, KernelResult]] = {}
    for result in kernel_results(figures):
        if (
            result.kernel in STREAM_ORDER
            and result.whole
            and result.whole.passes
            and not result.candidate
        ):
            ways = (result.access, result.store, result.prefetch, result.pages)
            key = (result.variant, *ways, result.element, result.threads, result.regime)
            tables.setdefault(key, {})[result.kernel] = result
    if not tables:
        return "No whole passes over the arrays were measured: there are no STREAM figures.\n"
    parts = [_table(figures, results) for results in tables.values()]
    return "\n".join(parts)


def _table(figures: Figures, results: dict[str, KernelResult]) -> str:
    first = next(iter(results.values()))
    lines = [RULER, *_header(first, _passes(results)), RULER, _TITLES]
    lines += [_row(results[kernel]) for kernel in STREAM_ORDER if kernel in results]
    lines += [RULER, _validation(figures.run.validations, first), RULER]
    return "\n".join(lines) + "\n"


_TITLES = "Function    Best Rate MB/s  Avg time     Min time     Max time"


def _passes(results: dict[str, KernelResult]) -> str:
    counts = [c.whole.passes.passes for c in results.values() if c.whole and c.whole.passes]
    low, high = min(counts), max(counts)
    return f"{high}" if low == high else f"{low} to {high}"


def _header(result: KernelResult, passes: str) -> list[str]:
    lines = ["These results are based on a variant of the STREAM benchmark code."]
    actual = result.actual
    element_bytes = 4 if result.element == "float" else 8
    lines.append(
        f"Variant: {result.variant}" + ("" if result.variant == STANDARD else " (modified)")
    )
    if result.access:
        lines.append(f"Access: {result.access} (the address of every element, from its object)")
    if result.store:
        lines.append(f"Stores: {result.store}")
    if result.prefetch:
        lines.append(f"Prefetch distance: {result.prefetch} (bytes)")
    if actual.stream_conformant is not True:
        lines.append("Not STREAM-conformant: arrays too small, or caches not known.")
    if actual.array_bytes is not None:
        lines.append(f"Array size = {actual.array_bytes // element_bytes} (elements)")
    lines.append(f"Each array element has {element_bytes} bytes; 1 MB = 1e6 bytes.")
    gpu = gpu_of(result.point)
    by = (
        f"GPU = {gpu_name([result.point])} ({gpu})"
        if gpu
        else f"Number of Threads = {result.threads}"
    )
    lines.append(by)
    if result.regime:
        lines.append(f"Regime: {result.regime}")
    lines.append(f"Best of {passes} passes; the very first of each kernel is left out.")
    return [*lines, f"Pages: {actual.pages}"] if actual.pages else lines


def _row(result: KernelResult) -> str:
    times = result.whole.passes if result.whole else None
    if times is None:
        return f"{result.kernel.capitalize()}:"
    return (
        f"{result.kernel.capitalize() + ':':<12}{times.best_gb_per_s * 1e3:12.1f}  "
        f"{times.average_s:11.6f}  {times.minimum_s:11.6f}  {times.maximum_s:11.6f}"
    )


def _validation(validations: list[Validation], result: KernelResult) -> str:
    """STREAM's verdict on the arrays of this team."""
    subjects = {f"{result.element}, {result.threads} threads", f"{result.element}, 1 thread"}
    subjects.add(f"{result.element}, {gpu_of(result.point)}")
    if result.pages:
        subjects = {f"{subject}, {result.pages}" for subject in subjects}
    mine = [v for v in validations if v.experiment == "stream" and v.subject in subjects]
    checks = [check for validation in mine for check in validation.checks]
    if not checks:
        return "Solution was not validated: the run ended before."
    failed = [check for check in checks if not check.passed]
    if failed:
        return "\n".join(
            f"Failed Validation on array {check.array}[], AvgRelAbsErr > epsilon "
            f"({check.epsilon:e}): {check.average_relative_error:e}"
            for check in failed
        )
    epsilon = max(check.epsilon for check in checks)
    return f"Solution Validates: avg error less than {epsilon:e} on all three arrays"
