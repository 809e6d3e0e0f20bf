"""SBX300 to SBX329: the `files` and `proc` blocks."""

from typing import ClassVar

from sbc.diagnostics.diagnostic import Diagnostic, Label, Severity
from sbc.diagnostics.span import Span


class NoFiles(Diagnostic):
    """A profile must say which files the command sees; there is no safe guess.

    Right: `files { root private; read /usr; write ${workdir} }`.
    """

    code: ClassVar[str] = "SBX300"
    name: str

    def title(self) -> str:
        return f"the profile `{self.name}` has no `files` block"

    def help(self) -> str | None:
        return "add `files { root private; ... }`"


class ParentFolder(Diagnostic):
    """A path cannot contain `..`: where it leads depends on links, which are known only when the sandbox starts."""

    code: ClassVar[str] = "SBX301"
    path: str

    def title(self) -> str:
        return f"`..` in the path `{self.path}`"

    def help(self) -> str | None:
        return "write the path that is meant"


class PathNewline(Diagnostic):
    """A path cannot contain a newline: no target can say such a one safely."""

    code: ClassVar[str] = "SBX302"

    def title(self) -> str:
        return "a path cannot contain a newline"


class AccessConflict(Diagnostic):
    """Two statements of one profile cannot give one path different access; the more specific path decides, and
    these are the same.

    Remove one. A statement of a profile that this one extends is replaced instead.
    """

    code: ClassVar[str] = "SBX304"
    path: str
    access: str
    other: str
    first: Span

    def title(self) -> str:
        return f"`{self.path}` is given `{self.access}` and `{self.other}`"

    def label(self) -> str:
        return f"`{self.access}`"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.first, f"`{self.other}`"),)


class PlaceConflict(Diagnostic):
    """One place of the sandbox shows one thing: two statements cannot put different paths there."""

    code: ClassVar[str] = "SBX305"
    path: str
    first: Span

    def title(self) -> str:
        return f"two statements put different things at `{self.path}`"

    def label(self) -> str:
        return "the second"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.first, "the first"),)


class OptionConflict(Diagnostic):
    """Two statements give one path the same access with different options; which ones were meant cannot be told."""

    code: ClassVar[str] = "SBX306"
    path: str
    first: Span

    def title(self) -> str:
        return f"`{self.path}` is stated twice with different options"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.first, "first stated here"),)


class PathAgain(Diagnostic):
    """A path is stated twice with the same access and options: one of them says nothing."""

    code: ClassVar[str] = "SBX307"
    severity: ClassVar[Severity] = Severity.LINT
    path: str
    first: Span

    def title(self) -> str:
        return f"`{self.path}` is stated twice"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.first, "first stated here"),)


class SeveralPaths(Diagnostic):
    """`as` and `identity` speak of one path; a statement on several paths cannot have them.

    Right: `write ${workdir} as /work`.
    """

    code: ClassVar[str] = "SBX308"
    option: str

    def title(self) -> str:
        return f"`{self.option}` needs a statement on one path"


class HiddenPlace(Diagnostic):
    """`as` and `identity` speak of something that is shown; a hidden path is not.

    `identity` also says that the content is known, which one that can be written is not. Right: `as` with `read` or
    `write`, `identity` with `read` alone.
    """

    code: ClassVar[str] = "SBX309"
    verb: str
    option: str

    def title(self) -> str:
        return f"`{self.option}` cannot stand with `{self.verb}`"


class ProcPath(Diagnostic):
    """The `proc` block names entries of /proc, as a name or as a path below /proc. A process's own are none: they come
    and go (`self`, `/proc/1/root`).

    Right: `proc { read-only { sys /proc/bus }; hide kcore }`.
    """

    code: ClassVar[str] = "SBX310"
    path: str

    def title(self) -> str:
        return f"`{self.path}` is not an entry of /proc"


class ProcConflict(Diagnostic):
    """An entry of /proc is read-only or hidden, not both."""

    code: ClassVar[str] = "SBX311"
    entry: str
    first: Span

    def title(self) -> str:
        return f"`/proc/{self.entry}` is given `read-only` and `hide`"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.first, "first stated here"),)


class TmpBudget(Diagnostic):
    """The size and the inodes of a `tmp` are above zero.

    Right: `tmp /tmp size 512MiB inodes 65536`.
    """

    code: ClassVar[str] = "SBX312"
    what: str

    def title(self) -> str:
        return f"`{self.what}` must be above zero"


class HostFolder(Diagnostic):
    """The host's /proc and /dev are not shown in a sandbox, at no place: it has both of its own.

    The host's /proc shows every process outside, and its entries act on the whole machine. Devices are chosen as a
    whole by `devices`: a single one shown by `read` or `write` could not be opened, as nothing else in a sandbox can
    act as a device. To protect entries of the sandbox's own /proc, use the `proc` block.

    Right: `devices standard`; `proc { hide kcore }`.
    """

    code: ClassVar[str] = "SBX313"
    path: str
    folder: str
    entry: str

    def title(self) -> str:
        return f"`{self.path}` of the host is not shown: the sandbox has a `{self.folder}` of its own"

    def help(self) -> str | None:
        if self.folder == "/dev":
            return "choose with `devices`: `none`, `minimal`, `standard` or `host`"
        if self.entry:
            return f"write `proc {{ hide {self.entry} }}`"
        return "leave it out; the `proc` block protects entries of the sandbox's own"


class OwnFolder(Diagnostic):
    """/proc and /dev in a sandbox are its own; nothing can be put there by `as` or `tmp`.

    Right: `read /opt/tools as /tools`. The private /dev/shm is made by `devices`.
    """

    code: ClassVar[str] = "SBX314"
    place: str
    folder: str

    def title(self) -> str:
        return f"nothing can be put at `{self.place}`: the sandbox has a `{self.folder}` of its own"

    def help(self) -> str | None:
        if self.place == "/dev/shm":  # noqa: S108 (a place, not a file of ours)
            return "`devices minimal` makes a private one"
        return "choose a place outside it"


class MovedRoot(Diagnostic):
    """`/` of the host keeps its name: moved, it would show the host's /proc and /dev below the new one.

    Right: `read /`, or the folders that are needed: `read /usr as /host/usr`.
    """

    code: ClassVar[str] = "SBX315"
    place: str

    def title(self) -> str:
        return f"`/` cannot be seen as `{self.place}`: the host's /proc and /dev would be there"

    def help(self) -> str | None:
        return f"name the folders that are needed: `read /usr as {self.place}/usr`"


class WritableSysfs(Diagnostic):
    """The host's /sys can be read, never written: what is written there acts on the whole machine.

    Right: `read /sys`. Below a writable `/` it stays read-only.
    """

    code: ClassVar[str] = "SBX316"
    path: str

    def title(self) -> str:
        return f"`{self.path}` cannot be writable: it is the whole machine's"

    def help(self) -> str | None:
        return f"write `read {self.path}`"


class HiddenRoot(Diagnostic):
    """`hide /` would hide all that is not listed, which `root private` says. Right: `root private`."""

    code: ClassVar[str] = "SBX317"

    def title(self) -> str:
        return "`/` cannot be hidden"

    def help(self) -> str | None:
        return "write `root private`: only what is listed exists"


class TwoPlaces(Diagnostic):
    """A path has one place in the sandbox: what is stated below it moves with it, and has to know where to.

    Right: one `as`; a folder below may have a place of its own: `read /etc as /a; read /etc/ssl as /b`.
    """

    code: ClassVar[str] = "SBX318"
    path: str
    place: str
    other: str
    first: Span

    def title(self) -> str:
        return f"`{self.path}` is put at `{self.place}` and at `{self.other}`: a path has one place"

    def label(self) -> str:
        return f"at `{self.place}`"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.first, f"at `{self.other}`"),)

    def help(self) -> str | None:
        return "keep one of the two places"
