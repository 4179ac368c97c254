"""How much memory the references have."""

from __future__ import annotations

import pytest

pytest.importorskip("memgauge._core")

from memgauge.experiments.diagnose.pressure.references import (
    SCATTERED_LEAST_BYTES,
    SCATTERED_MOST_BYTES,
    sizes,
)

pytestmark = pytest.mark.native

MIB = 1 << 20


@pytest.mark.parametrize(
    ("llc_bytes", "program_bytes", "scattered"),
    [
        (None, 0, SCATTERED_LEAST_BYTES),
        (32 * MIB, 5 * MIB, 128 * MIB),
        (32 * MIB, 300 * MIB, 300 * MIB),
        (32 * MIB, 1 << 40, SCATTERED_MOST_BYTES),
        (512 * MIB, 300 * MIB, 2048 * MIB),
        (512 * MIB, 1 << 40, 2048 * MIB),
    ],
)
def test_the_scattered_reference_is_as_large_as_the_program(
    llc_bytes: int | None, program_bytes: int, scattered: int
) -> None:
    assert sizes(llc_bytes, program_bytes).scattered == scattered


def test_the_other_references_do_not_depend_on_the_program() -> None:
    small, large = sizes(32 * MIB, MIB), sizes(32 * MIB, 1 << 30)
    assert (small.ring, small.cached, small.array) == (large.ring, large.cached, large.array)
