"""SBX455 to SBX465, of filters: what the lints find in SBPL profiles that evaluate."""

from typing import ClassVar

from sbc.diagnostics.catalogue.lints import listed
from sbc.diagnostics.catalogue.sbpl import in_rule
from sbc.diagnostics.diagnostic import Diagnostic, Label, Severity
from sbc.diagnostics.span import Span


def _is(words: tuple[str, ...]) -> str:
    return f"{listed(words)} {'is' if len(words) == 1 else 'are'}"


class SbplPathSpelling(Diagnostic):
    """Filters see the path that the kernel resolved; the text of a profile is not normalised.

    `/tmp`, `/var` and `/etc` are links to `/private/...`, `/home` to `/System/Volumes/Data/home`, and what is under
    `/System/Volumes/Data` is seen without that. A `//`, `/./`, `..` or relative path matches nothing; whether an
    empty one or a `/` at the end does is not known. A deny on such a path fails open.

    Right: `(subpath "/private/tmp/work")`.
    """

    code: ClassVar[str] = "SBX455"
    severity: ClassVar[Severity] = Severity.LINT
    spelled: str
    canonical: str | None
    action: str
    rule: Span
    link_seen: bool = False

    def title(self) -> str:
        if self.canonical is not None and self.spelled.rstrip("/") == self.canonical:
            return f"whether `{self.spelled}` matches anything is not known: it ends in `/`"
        if not self.spelled:
            return "what an empty path matches is not known"
        if self.canonical is not None:
            why = f"the kernel sees `{self.canonical}`"
        elif self.spelled.startswith("/"):
            why = "the kernel resolves `..`"
        else:
            why = "it does not begin with `/`"
        seen = "only the link itself" if self.link_seen else "nothing"
        return f"`{self.spelled}` matches {seen}: {why}{', so this deny is open' if self.action == 'deny' else ''}"

    def secondary(self) -> tuple[Label, ...]:
        return in_rule(self.span, self.rule) if self.span else ()

    def help(self) -> str | None:
        if self.canonical is not None:
            return f"write `{self.canonical}`"
        if self.spelled.startswith("~"):
            return "`~` is not expanded: give the folder as a parameter"
        return "write the path that the kernel resolves, from `/`"


class SbplRegexNotSafe(Diagnostic):
    r"""A regular expression uses what is known not to match, or not known to.

    Safe are `^ $ . * + ? | ( ) [ ] [^ ]`, ranges, and `\` before any of them. `(?:...)` matches nothing, silently; what
    `\d`, `\w`, `\1`, `{n}`, `(?=` and `[[:x:]]` mean is not known.

    Right: `(regex #"^/dev/ttys[0-9]+$")`.
    """

    code: ClassVar[str] = "SBX458"
    severity: ClassVar[Severity] = Severity.LINT
    why: str | None

    def title(self) -> str:
        if self.why is None:
            return "this regular expression matches nothing: it has a `(?:`"
        return f"what this regular expression matches depends on {self.why}"

    def help(self) -> str | None:
        return "write a plain group: `(...)`" if self.why is None else "write it with `^ $ . * + ? | ( ) [ ]` alone"


class SbplRegexNotAnchored(Diagnostic):
    r"""A regular expression is searched for: without a `^` it matches in the middle of a name too.

    `(allow file-write* (regex #"/Library/Caches/"))` also opens `/Users/me/secret/Library/Caches/`. A `^` before a `|`
    belongs to the first alternative alone.

    Right: `(regex #"^/Users/me/Library/Caches/")`; `(regex #"^/(a|b)/")`; `^.*` where any beginning is meant.
    """

    code: ClassVar[str] = "SBX459"
    severity: ClassVar[Severity] = Severity.LINT
    loose: str
    alternative: bool

    def title(self) -> str:
        what = f"the alternative `{self.loose}`" if self.alternative else f"`{self.loose}`"
        return f"{what} matches anywhere in a name: it has no `^`"

    def help(self) -> str | None:
        return "begin it with `^`, or with `^.*` where any beginning is meant"


class SbplRegexOpenDot(Diagnostic):
    r"""A `.` matches any character: `^/Users/me/.ssh` also matches `/Users/me/xssh`.

    Right: `(regex #"^/Users/me/\.ssh")`.
    """

    code: ClassVar[str] = "SBX460"
    severity: ClassVar[Severity] = Severity.LINT
    pattern: str
    quoted: str

    def title(self) -> str:
        return f"a `.` in `{self.pattern}` matches any character"

    def help(self) -> str | None:
        return rf"quote it: `{self.quoted}` (in a string that is not raw, `\\.`)"


class SbplLongToken(Diagnostic):
    """macOS refuses a profile with a string of more than about 1,024 bytes; the exact limit is not known.

    Right: several filters in place of one long regular expression; `string-append` of parts.
    """

    code: ClassVar[str] = "SBX461"
    severity: ClassVar[Severity] = Severity.LINT
    size: int

    def title(self) -> str:
        return f"this string of {self.size:,} bytes is at the limit: macOS refuses those of about 1,024"

    def help(self) -> str | None:
        return "write it in parts: several filters, or `string-append`"


class SbplLocalOutbound(Diagnostic):
    """On network-outbound a `local` filter matches every connection: a source that is not bound yet is 0.0.0.0.

    Right: `(allow network-outbound (remote ip "localhost:*"))` for local traffic only; `local` on `network-bind` and
    `network-inbound`.
    """

    code: ClassVar[str] = "SBX462"
    severity: ClassVar[Severity] = Severity.LINT
    action: str
    rule: Span

    def title(self) -> str:
        what = "allows connections to everywhere" if self.action == "allow" else "denies every connection"
        return f"this rule {what}: `local` narrows nothing on `network-outbound`"

    def secondary(self) -> tuple[Label, ...]:
        return in_rule(self.span, self.rule) if self.span else ()

    def help(self) -> str | None:
        return "filter `remote`; name `network-bind` and `network-inbound` where the local end is meant"


class SbplFileDenyOfSocket(Diagnostic):
    """Connecting to a Unix socket is `network-outbound` by path: denies on files do not stop it.

    Right: `(deny network-outbound (literal "/private/var/run/docker.sock"))`.
    """

    code: ClassVar[str] = "SBX463"
    severity: ClassVar[Severity] = Severity.LINT
    path: str

    def title(self) -> str:
        return f"connecting to the socket `{self.path}` stays allowed: it is no access to a file"

    def help(self) -> str | None:
        return "deny `network-outbound` with the same filter"


class SbplMovedAway(Diagnostic):
    """A rename is `file-write-unlink` of the old name and `file-write-create` of the new one, whatever is within.

    A path that is denied can be moved, or a folder above it, to a name that no rule knows. Denies of reading are gone
    round as well as denies of writing.

    Right: `(deny file-write-unlink (literal P) (path-ancestors P))` beside the deny, below all allows.
    """

    code: ClassVar[str] = "SBX464"
    severity: ClassVar[Severity] = Severity.LINT
    path: str
    folder: str
    reading: bool

    def title(self) -> str:
        what = "it" if self.folder == self.path else f"`{self.folder}`"
        how = "read" if self.reading else "written"
        return f"`{self.path}` can still be {how}: {what} can be renamed first"

    def help(self) -> str | None:
        return f'deny `file-write-unlink` of `(literal "{self.folder}")` too'


class SbplWriteSiblings(Diagnostic):
    """`file-link`, `file-clone` and `file-mount` are not under `file-write*`.

    A file that may not be written can be linked to a name that may, and a folder mounted over.

    Right: `(deny file-write* file-link file-clone file-mount ...)`.
    """

    code: ClassVar[str] = "SBX465"
    severity: ClassVar[Severity] = Severity.LINT
    operations: tuple[str, ...]
    witness: str

    def title(self) -> str:
        about = f" for `{self.witness}`" if self.witness else ""
        return f"writing is denied, but {_is(self.operations)} open{about}"

    def help(self) -> str | None:
        return f"name {'it' if len(self.operations) == 1 else 'them'} in the deny: `{' '.join(self.operations)}`"
