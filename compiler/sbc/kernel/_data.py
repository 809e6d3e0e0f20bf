"""Where the tables are, and how they are read: each file once, when it is first asked for."""

import json
import os
from functools import cache
from typing import Any

FOLDER = os.path.join(os.path.dirname(__file__), "data")


@cache
def load(name: str) -> dict[str, Any]:
    """The content of `data/NAME.json`."""
    with open(os.path.join(FOLDER, f"{name}.json"), encoding="utf-8") as file:
        return json.load(file)
