"""The file that sandbox-exec reads a profile from: private, of a random name, and out of the command's reach."""

import contextlib
import os
import tempfile

from sbc_runtime.errors import SetupFailed
from sbc_runtime.macos.preparing import Ready
from sbc_runtime.macos.values import resolved

_FOLDER = "Library/Caches/sbc/seatbelt"
"""Below the home folder, where commands of other sandboxes do not write; temporary folders are theirs, too."""


class ProfileFile:
    """One profile in a file of mode 0600, in a folder of mode 0700 that goes with it."""

    def __init__(self, ready: Ready) -> None:
        """Write it; `SetupFailed` where that is not possible, or where the command could change it."""
        parent = os.path.join(ready.home, _FOLDER)
        if ready.areas.at(resolved(parent)).access == "write":
            why = f"the command could write `{parent}`, where profiles are kept"
            raise SetupFailed("backend", why, "let it write less of the home folder")
        try:
            os.makedirs(parent, mode=0o700, exist_ok=True)
            self._folder = tempfile.mkdtemp(prefix="run-", dir=parent)
        except OSError as error:
            raise SetupFailed.of("backend", error, "make the folder writable for you") from None
        self.path = os.path.join(self._folder, "profile.sb")
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(self.path, flags, 0o600), "w", encoding="utf-8") as file:
                file.write(ready.text)
        except OSError as error:
            self.remove()
            raise SetupFailed.of("backend", error, "make room for a file there") from None

    def remove(self) -> None:
        """Remove file and folder, where they are still there."""
        with contextlib.suppress(OSError):
            os.unlink(self.path)
        with contextlib.suppress(OSError):
            os.rmdir(self._folder)
