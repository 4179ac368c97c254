"""Tests that must not run side by side are told to xdist."""

import pytest


def test_xdist_reads_the_groups(request: pytest.FixtureRequest) -> None:
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("not one of several processes that are given groups of tests")
    assert request.node.nodeid.rpartition("@")[2] == request.node.location[0]
