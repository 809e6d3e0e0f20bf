"""Files of the user's that a command changes in place."""

import os
from pathlib import Path
from stat import S_IMODE


def rewrite(path: Path, text: str) -> None:
    """Replace a file's text, whole or not at all; it keeps its permissions, and a link goes on leading to it."""
    from sbc_runtime.atomic import write_file

    target = os.path.realpath(path)
    write_file(target, text.encode(), mode=S_IMODE(os.stat(target).st_mode))  # noqa: PTH116 (as given, not normalised)
