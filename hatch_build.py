"""What is made when the wheel is built: the parser's tables and the stock library as syntax trees.

Both are data that the first run would make too; in the wheel they spare every run of every user that.
"""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_ROOT = Path(__file__).parent


class MadeData(BuildHookInterface):  # pyright: ignore[reportMissingTypeArgument]
    """Adds the made files to a wheel, never to an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the files below the build folder, and have them included beside the grammar."""
        if self.target_name != "wheel" or version == "editable":
            return
        sys.path[:0] = [str(_ROOT / "compiler"), str(_ROOT / "runtime")]
        from sbc.syntax import made  # noqa: PLC0415 - importable only now

        folder = Path(self.directory) / "made"
        made.write(folder)
        build_data["force_include"][str(folder)] = "sbc/grammar"
