"""Where the tables are, and how they are read: each file once, when it is first asked for."""

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "data"


@cache
def load(name: str) -> dict[str, Any]:
    """The content of `data/NAME.json`."""
    return json.loads((FOLDER / f"{name}.json").read_bytes())
