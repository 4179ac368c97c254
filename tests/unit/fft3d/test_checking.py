import math

import pytest
from tests.unit.fft3d.made_up_ranks import MadeUpComm, on_ranks

from memgauge.analysis.fft3d.shape import Pencils
from memgauge.fft3d.checking import (
    Error,
    compare,
    error_bound,
    field_for,
    is_whole,
    validation,
    whole_bytes,
)
from memgauge.fft3d.decomposition import Block
from memgauge.fft3d.fields import Noise, Waves
from memgauge.model.errors import RequestError
from memgauge.model.grid import Grid

np = pytest.importorskip("numpy", reason="NumPy is not installed (pip install 'memgauge[mpi]')")

ALONE = Pencils(size=8, grid=Grid(1, 1))


def test_the_bound_is_that_of_the_theorem() -> None:
    u = 2.0**-53
    gamma = 4 * u / (1 - 4 * u)
    eta = u + gamma * (math.sqrt(2) + u)
    assert error_bound(128) == pytest.approx(2 * 21 * eta / (1 - 21 * eta), rel=1e-12)
    assert error_bound(256) > error_bound(128)
    assert error_bound(127) > error_bound(256)
    assert error_bound(1) > 0


def error_of(spoil: slice | None, value: complex) -> Error:
    def work(comm: MadeUpComm) -> Error | None:
        whole = np.empty((8, 8, 8), np.complex128)
        field = Noise(8)
        field.fill(Block(range(8), range(8)), whole)
        result = np.fft.fftn(whole).transpose(1, 2, 0).ravel()
        if spoil is not None:
            result[spoil] = value
        return compare(comm, ALONE, field, result)

    (error,) = on_ranks(1, work)
    assert isinstance(error, Error)
    return error


def test_a_right_result_has_no_error_and_one_wrong_element_is_seen() -> None:
    assert error_of(None, 0).relative <= error_bound(8)
    assert error_of(slice(77, 78), 3.0).relative > 1e6 * error_bound(8)


def test_what_is_no_number_fails_and_can_be_recorded() -> None:
    error = error_of(slice(0, 1), complex("nan"))
    assert error.relative == math.inf
    record = validation(ALONE, error, whole=True)
    assert not record.checks[0].passed
    assert math.isfinite(record.checks[0].average_relative_error)


def test_a_record_says_what_it_was_compared_with() -> None:
    right = Error(difference=0.0, answer=1.0)
    assert validation(ALONE, right, whole=True).subject == "8^3 on 1x1 against a whole 3-D FFT"
    assert "plane waves" in validation(ALONE, right, whole=False).subject
    assert validation(ALONE, right, whole=True).checks[0].passed


def test_auto_compares_with_the_whole_where_it_fits_and_is_small() -> None:
    small, large = ALONE, Pencils(size=512, grid=Grid(1, 1))
    assert is_whole("auto", small, whole_bytes(small))
    assert not is_whole("auto", small, whole_bytes(small) - 1)
    assert not is_whole("auto", large, 1 << 50)
    assert is_whole("whole", large, 1 << 50)
    assert not is_whole("waves", small, 1 << 50)
    with pytest.raises(RequestError, match=r"--check whole: .* does not fit"):
        is_whole("whole", large, 1 << 20)


def test_the_field_goes_with_the_check() -> None:
    assert isinstance(field_for(8, whole=True), Noise)
    assert isinstance(field_for(8, whole=False), Waves)
