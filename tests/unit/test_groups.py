"""Tests that must not run side by side are told to xdist."""

import pytest


def test_xdist_reads_the_groups(request: pytest.FixtureRequest) -> None:
    if not hasattr(request.config, "workerinput"):
        pytest.skip("the tests run in one process")
    assert request.node.nodeid.rpartition("@")[2] == request.node.location[0]
