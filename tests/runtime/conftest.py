"""Fixtures of the runtime's tests."""

import pytest

from tests.runtime.support import Caller


@pytest.fixture(params=["root", "user"])
def caller(request: pytest.FixtureRequest) -> Caller:
    """Root, and an ordinary user."""
    return Caller(request.param)
