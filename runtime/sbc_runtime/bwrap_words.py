"""Reads the arguments that the compiler made for bubblewrap: one word at a time, none unknown.

What the profile says stands there with its spelled paths. The words that begin with `--sbc-` are not bubblewrap's:
they say what only the machine that runs can know.
"""

from sbc_runtime.errors import SetupFailed
from sbc_runtime.records import NamedTuple

_MODIFIERS = {"--perms": 1, "--size": 1, "--sbc-inodes": 1}
"""They belong to the word that follows."""

_PLACED = {
    "--bind": 2,
    "--bind-try": 2,
    "--ro-bind": 2,
    "--ro-bind-try": 2,
    "--dev-bind": 2,
    "--dev-bind-try": 2,
    "--symlink": 2,
    "--sbc-hide": 2,
    "--sbc-hide-try": 2,
    "--tmpfs": 1,
    "--dev": 1,
    "--proc": 1,
    "--remount-ro": 1,
    "--sbc-seal": 1,
}
"""Words of the file system; their last value is a path of the sandbox."""

_OTHERS = {
    "--unshare-user": 0,
    "--unshare-pid": 0,
    "--unshare-ipc": 0,
    "--unshare-uts": 0,
    "--unshare-cgroup": 0,
    "--unshare-net": 0,
    "--die-with-parent": 0,
    "--new-session": 0,
    "--cap-drop": 1,
    "--uid": 1,
    "--gid": 1,
    "--hostname": 1,
    "--chdir": 1,
    "--seccomp": 1,
}

AGAIN = "compile the profile again with this version"


class Word(NamedTuple):
    """One option with its values. `modifiers`: those before it that it takes, with theirs."""

    name: str
    values: tuple[str, ...]
    modifiers: tuple[tuple[str, str], ...] = ()

    @property
    def place(self) -> str:
        """The path of the sandbox that it is about."""
        return self.values[-1]

    @property
    def arguments(self) -> tuple[str, ...]:
        """It as bubblewrap reads it."""
        return (*(one for pair in self.modifiers for one in pair), self.name, *self.values)


class Words(NamedTuple):
    """All words: those of the file system in their order, and the rest by name."""

    placed: tuple[Word, ...]
    others: dict[str, tuple[str, ...]]


def read(arguments: tuple[str, ...]) -> Words:
    """Read compiled arguments; `SetupFailed` where one is not known here."""
    placed: list[Word] = []
    others: dict[str, tuple[str, ...]] = {}
    modifiers: list[tuple[str, str]] = []
    at = 0
    while at < len(arguments):
        name = arguments[at]
        count = _MODIFIERS.get(name, _PLACED.get(name, _OTHERS.get(name)))
        if count is None or at + count >= len(arguments) + (count == 0):
            raise SetupFailed("bwrap", f"`{name}` in the bundle's arguments is not known here", AGAIN)
        values = arguments[at + 1 : at + 1 + count]
        at += 1 + count
        if name in _MODIFIERS:
            modifiers.append((name, values[0]))
        elif name in _PLACED:
            placed.append(Word(name, values, tuple(modifiers)))
            modifiers = []
        else:
            others[name] = values
    if modifiers:
        raise SetupFailed("bwrap", f"`{modifiers[0][0]}` in the bundle's arguments is said of nothing", AGAIN)
    return Words(tuple(placed), others)


def filled(argument: str, params: dict[str, str]) -> str:
    """Fill in the parameter that a path begins with, as a whole, and undo doubled dollar signs."""
    base = ""
    if argument.startswith("${"):
        name, brace, argument = argument[2:].partition("}")
        if not brace or name not in params:
            raise SetupFailed("bwrap", f"`{name}` has no value", AGAIN)
        base = params[name].rstrip("/") if argument else params[name]
    return base + argument.replace("$$", "$")
