"""Fixtures of the runtime's tests."""

import pytest

from sbc_runtime import bwrap_find
from sbc_runtime.errors import SetupFailed
from tests.runtime.support import Caller, missing


@pytest.fixture(params=["root", "user"])
def caller(request: pytest.FixtureRequest) -> Caller:
    """Root, and an ordinary user."""
    return Caller(request.param)


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request: pytest.FixtureRequest) -> str:
    """Each backend that isolates."""
    if request.param == "bwrap":
        try:
            bwrap_find.find()
        except SetupFailed as failed:
            missing("bwrap", str(failed))
    return str(request.param)
