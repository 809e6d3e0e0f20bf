"""Where the data that several checkouts share is found."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
"""The checkout."""


def shared_folder() -> Path | None:
    """Give the shared folder: `SBC_SHARED`, or `shared` beside the checkout; None where there is none."""
    folder = Path(os.environ.get("SBC_SHARED") or ROOT.parent / "shared")
    return folder if folder.is_dir() else None


def shared(*parts: str) -> Path:
    """Give a path of the shared folder; the test is skipped, with the reason, where it is not there."""
    folder = shared_folder()
    if folder is None:
        pytest.skip("no shared folder: set SBC_SHARED, or put it beside the checkout")
    path = folder.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{'/'.join(parts)} is not in the shared folder")
    return path
