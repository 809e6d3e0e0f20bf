"""SBX440 to SBX451: SBPL profiles that cannot be evaluated, and questions about them."""

from typing import ClassVar

from sbc.diagnostics.catalogue.names import did_you_mean
from sbc.diagnostics.diagnostic import Diagnostic, Label
from sbc.diagnostics.span import Span


def in_rule(at: Span, rule: Span) -> tuple[Label, ...]:
    """Show the rule, where the finding stands elsewhere: in a function that the rule calls."""
    within = rule.source == at.source and rule.start <= at.start and at.end <= rule.end
    return () if within else (Label(rule, "in this rule"),)


class SbplUnreadable(Diagnostic):
    r"""The text of an SBPL profile must be readable as lists, words, numbers and strings.

    Strings know `\n \t \r \" \\ \xHH` and octal `\ooo`; raw strings `#"..."` know no escapes; a string has at most
    1,024 bytes in the text: macOS refuses longer ones.
    """

    code: ClassVar[str] = "SBX440"
    why: str
    advice: str | None = None

    def title(self) -> str:
        return self.why

    def help(self) -> str | None:
        return self.advice


class SbplUnknownName(Diagnostic):
    """A word of an SBPL profile must name something: a form, a definition of the profile, an operation, a filter.

    macOS refuses a profile that uses a name which nothing has.
    """

    code: ClassVar[str] = "SBX441"
    kind: str
    name: str
    suggestion: str | None = None

    def title(self) -> str:
        return f"unknown {self.kind} `{self.name}`"

    def help(self) -> str | None:
        return did_you_mean(self.suggestion)


class SbplMisuse(Diagnostic):
    """A form, a function or a filter of an SBPL profile takes certain arguments, and no others.

    `require-all` and `require-any` take one filter or more, `require-not` exactly one; the host of `remote` and
    `local` is `*` or `localhost`, with a port or `*`: `(remote ip "localhost:443")`.
    """

    code: ClassVar[str] = "SBX442"
    name: str
    why: str

    def title(self) -> str:
        return f"`{self.name}` {self.why}"


class SbplMissingParameter(Diagnostic):
    """A filter or a function was given #f in place of text: `(param "X")` is #f where X was not supplied.

    Supply it (`-D X=/private/tmp/x`), or test it first: `(if (param "X") (allow file-read* (subpath (param "X"))))`.
    """

    code: ClassVar[str] = "SBX443"
    name: str

    def title(self) -> str:
        return f"`{self.name}` was given #f, not a string"

    def help(self) -> str | None:
        return "is a parameter missing? supply it with `-D NAME=VALUE`"


class SbplMisplacedFilter(Diagnostic):
    """An operation takes only the filters that look at something which it has: a path, a service's name, a target.

    macOS refuses a profile where they do not fit.
    """

    code: ClassVar[str] = "SBX444"
    name: str
    operation: str

    def title(self) -> str:
        return f"`{self.operation}` does not take the filter `{self.name}`"


class SbplVersion(Diagnostic):
    """An SBPL profile says `(version 1)` before its rules: macOS refuses one that does not."""

    code: ClassVar[str] = "SBX445"
    why: str

    def title(self) -> str:
        return self.why

    def help(self) -> str | None:
        return "begin the profile with `(version 1)`"


class SbplRegex(Diagnostic):
    r"""A regular expression of an SBPL profile cannot be read.

    What is known to work: `^ $ . * + ? | ( ) [ ] [^ ]`, ranges, and `\` before any of them.
    """

    code: ClassVar[str] = "SBX446"
    why: str

    def title(self) -> str:
        return f"the regular expression cannot be read: {self.why}"


class SbplBudget(Diagnostic):
    """A profile may take only so many steps, so much memory and so much nesting: evaluating one always ends."""

    code: ClassVar[str] = "SBX447"
    what: str
    limit: int

    def title(self) -> str:
        return f"the profile is too large to evaluate: more than {self.limit:,} {self.what}"


class SbplImport(Diagnostic):
    """An imported profile is looked for in the folder that was given, and nowhere else.

    On macOS that folder is `/System/Library/Sandbox/Profiles`; elsewhere name one with `--import-folder`. macOS looks
    at any absolute path; here it has to lie in that folder, since what is wrong in a file is shown.
    """

    code: ClassVar[str] = "SBX448"
    name: str
    why: str

    def title(self) -> str:
        return f"cannot import `{self.name}`: {self.why}"


class SbplRaised(Diagnostic):
    """The profile itself refused to go on: it called `error`."""

    code: ClassVar[str] = "SBX449"
    message: str

    def title(self) -> str:
        return f"the profile says: {self.message}"


class SbplQuestion(Diagnostic):
    """What is asked of a profile: an operation of SBPL, and a target that such an operation has.

    A path (`/private/tmp/x`), `remote tcp 1.1.1.1:443`, `local udp 127.0.0.1:53`, `unix /private/tmp/s`, a name
    (`com.apple.logd`, `hw.ncpu`), `self`, `pgrp`, `children`, `same-sandbox`, `others`, or `-` for none.
    """

    code: ClassVar[str] = "SBX450"
    why: str
    suggestion: str | None = None

    def title(self) -> str:
        return self.why

    def help(self) -> str | None:
        return did_you_mean(self.suggestion)


class SbplNotKnown(Diagnostic):
    """The answer depends on something that the question does not say, or that nobody has observed on macOS.

    Where a fact is missing it can be given: `--attr vnode-type=DIRECTORY`. What is open needs a Mac: no guess is made.
    """

    code: ClassVar[str] = "SBX451"
    why: str
    fact: str | None = None

    def title(self) -> str:
        return f"the answer depends on {self.why}"

    def label(self) -> str:
        return "this rule may or may not match"

    def help(self) -> str | None:
        return f"give it: `--attr {self.fact}=...`" if self.fact else None
