"""Best-of-N figures in the table form of STREAM, labelled as its run rules ask."""

from memgauge.analysis.figures.gpu_points import gpu_name, gpu_of
from memgauge.analysis.figures.run import Figures, figures_of, number_fact, text_fact
from memgauge.analysis.stream.figures import STANDARD, KernelResult, stream_cells
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
    tables: dict[tuple[str, str, str, str, int, str], dict[str, KernelResult]] = {}
    for cell in stream_cells(figures):
        if cell.kernel in STREAM_ORDER and cell.whole and cell.whole.passes and not cell.candidate:
            ways = (cell.access, cell.store)
            key = (cell.variant, *ways, cell.element, cell.threads, cell.regime)
            tables.setdefault(key, {})[cell.kernel] = cell
    if not tables:
        return "No whole passes over the arrays were measured: there are no STREAM figures.\n"
    parts = [_table(figures, cells) for cells in tables.values()]
    return "\n".join(parts)


def _table(figures: Figures, cells: dict[str, KernelResult]) -> str:
    first = next(iter(cells.values()))
    lines = [RULER, *_header(first, _passes(cells)), RULER, _TITLES]
    lines += [_row(cells[kernel]) for kernel in STREAM_ORDER if kernel in cells]
    lines += [RULER, _validation(figures.run.validations, first), RULER]
    return "\n".join(lines) + "\n"


_TITLES = "Function    Best Rate MB/s  Avg time     Min time     Max time"


def _passes(cells: dict[str, KernelResult]) -> str:
    counts = [c.whole.passes.passes for c in cells.values() if c.whole and c.whole.passes]
    low, high = min(counts), max(counts)
    return f"{high}" if low == high else f"{low} to {high}"


def _header(cell: KernelResult, passes: str) -> list[str]:
    lines = ["These results are based on a variant of the STREAM benchmark code."]
    facts = cell.point.actual
    array_bytes = number_fact(facts, "array_bytes")
    element_bytes = 4 if cell.element == "float" else 8
    lines.append(f"Variant: {cell.variant}" + ("" if cell.variant == STANDARD else " (modified)"))
    if cell.access:
        lines.append(f"Access: {cell.access} (the address of every element, from its object)")
    if cell.store:
        lines.append(f"Stores: {cell.store}")
    if facts.get("stream_conformant") is not True:
        lines.append("Not STREAM-conformant: arrays too small, or caches not known.")
    if array_bytes is not None:
        lines.append(f"Array size = {array_bytes // element_bytes} (elements)")
    lines.append(f"Each array element has {element_bytes} bytes; 1 MB = 1e6 bytes.")
    gpu = gpu_of(cell.point)
    by = f"GPU = {gpu_name([cell.point])} ({gpu})" if gpu else f"Number of Threads = {cell.threads}"
    lines.append(by)
    if cell.regime:
        lines.append(f"Regime: {cell.regime}")
    lines.append(f"Best of {passes} passes; the very first of each kernel is left out.")
    pages = text_fact(facts, "pages")
    return [*lines, f"Pages: {pages}"] if pages else lines


def _row(cell: KernelResult) -> str:
    times = cell.whole.passes if cell.whole else None
    if times is None:
        return f"{cell.kernel.capitalize()}:"
    return (
        f"{cell.kernel.capitalize() + ':':<12}{times.best_gb_per_s * 1e3:12.1f}  "
        f"{times.average_s:11.6f}  {times.minimum_s:11.6f}  {times.maximum_s:11.6f}"
    )


def _validation(validations: list[Validation], cell: KernelResult) -> str:
    """STREAM's verdict on the arrays of this team."""
    subjects = {f"{cell.element}, {cell.threads} threads", f"{cell.element}, 1 thread"}
    subjects.add(f"{cell.element}, {gpu_of(cell.point)}")
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
