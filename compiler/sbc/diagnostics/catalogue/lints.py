"""SBX500 to SBX549: what the analyses find in a policy that is well formed."""

from typing import ClassVar

from sbc.diagnostics.diagnostic import Diagnostic, Label, Severity
from sbc.diagnostics.span import Span


def listed(words: tuple[str, ...]) -> str:
    """Give words between backticks, with commas and an `and`."""
    quoted = [f"`{word}`" for word in words]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else "".join(quoted)


class RuleNeverDecides(Diagnostic):
    """The first rule that names a call and whose condition holds decides: a rule below it on the same call may be dead.

    What the rule matches is decided above it, in the same text, on every ABI of the profile: it could go, or stands too
    low. Rules of an included `rules` block count as its own text, so that a profile may relax a list by a rule above
    its `include`; rules of a child profile come before its parent's and may replace them.

    Right: the narrower rule first, `allow clone when flags == 0`, then `deny EPERM clone`.
    """

    code: ClassVar[str] = "SBX500"
    above: tuple[Span, ...]

    def title(self) -> str:
        if not self.above:
            return "this rule never decides: its condition holds for no call"
        return "this rule never decides: what it matches is decided above it"

    def secondary(self) -> tuple[Label, ...]:
        return tuple(Label(span, "decided here") for span in self.above)

    def help(self) -> str | None:
        return "move it up, or remove it" if self.above else "correct the condition, or remove the rule"


class CallNeverDecides(Diagnostic):
    """A call that a rule names itself is decided above it, in the same text: for that call the rule says nothing.

    Calls that come from a group or a pattern are no finding: to take one out of a group by a rule above is usual.

    Right: name the call in one of the two rules.
    """

    code: ClassVar[str] = "SBX501"
    severity: ClassVar[Severity] = Severity.LINT
    call: str
    above: tuple[Span, ...]

    def title(self) -> str:
        return f"for `{self.call}` this rule never decides: the call is decided above it"

    def secondary(self) -> tuple[Label, ...]:
        return tuple(Label(span, "decided here") for span in self.above)

    def help(self) -> str | None:
        return f"move the rule up, or take `{self.call}` out of it"


class Clone3WithoutFallback(Diagnostic):
    """C libraries start threads and processes with `clone3` and fall back to `clone` only where it fails with ENOSYS.

    Any other answer makes every thread and every child process fail, though `clone` is allowed.

    Right: `deny ENOSYS clone3`.
    """

    code: ClassVar[str] = "SBX502"
    severity: ClassVar[Severity] = Severity.LINT
    verdict: str
    by_default: bool

    def title(self) -> str:
        how = "by default" if self.by_default else "here"
        return f"`clone3` gets `{self.verdict}` {how}: threads fail, for C libraries fall back only on ENOSYS"

    def help(self) -> str | None:
        return "add `deny ENOSYS clone3`" if self.by_default else "write `deny ENOSYS clone3`"


class NoNewer(Diagnostic):
    """Programs try a new call and use an older one where it fails with ENOSYS, as on an older kernel.

    An allow-list refuses the calls of kernels newer than itself with its default, which programs take for a failure.
    `newer than linux VERSION` is a second default for the numbers above that kernel's last; where it says the same as
    the default, the profile at least says so.

    Right: `newer than linux 6.12 deny ENOSYS`.
    """

    code: ClassVar[str] = "SBX503"
    severity: ClassVar[Severity] = Severity.LINT
    verdict: str

    def title(self) -> str:
        return f"calls of kernels newer than this list get `{self.verdict}`, which programs do not take for `not there`"

    def help(self) -> str | None:
        return "add `newer than linux 6.12 deny ENOSYS`"


class IoUringOpen(Diagnostic):
    """A ring carries out calls on the process's behalf, and no filter sees them.

    Where a profile denies calls on files or sockets, the three calls of io_uring go round it.

    Right: `deny EPERM { io_uring_setup io_uring_enter io_uring_register }`.
    """

    code: ClassVar[str] = "SBX504"
    severity: ClassVar[Severity] = Severity.LINT
    call: str
    open: tuple[str, ...]
    at: tuple[Span, ...]

    def title(self) -> str:
        verb = "is" if len(self.open) == 1 else "are"
        return f"`{self.call}` is denied, but {listed(self.open)} {verb} open: a ring carries it out unseen"

    def secondary(self) -> tuple[Label, ...]:
        return tuple(Label(span, "denied here") for span in self.at)

    def help(self) -> str | None:
        return "deny `io_uring_setup`, `io_uring_enter` and `io_uring_register`"


class SiblingOpen(Diagnostic):
    """Kernels bring new calls that do what an older one does: a rule on one of them alone is gone round by another.

    Named are the calls that the profile allows whatever their arguments, and the kernel that brought each. Statements
    of the stock library are not checked: their author is not the profile's.

    Right: `deny EPERM { chmod fchmod fchmodat fchmodat2 }`.
    """

    code: ClassVar[str] = "SBX505"
    severity: ClassVar[Severity] = Severity.LINT
    call: str
    siblings: tuple[tuple[str, str | None], ...]

    def title(self) -> str:
        named = [f"`{call}`" + (f" (Linux {since})" if since else "") for call, since in self.siblings]
        text = " and ".join([", ".join(named[:-1]), named[-1]]) if len(named) > 1 else named[0]
        return f"`{self.call}` is denied, but {text} can do its work and {'is' if len(named) == 1 else 'are'} open"

    def help(self) -> str | None:
        names = " ".join(call for call, _ in self.siblings)
        return f"name {'it' if len(self.siblings) == 1 else 'them'} too: `{{ {self.call} {names} }}`"


class DefaultAllowAlone(Diagnostic):
    """`default allow` allows every call that the block does not name, also those that no sandbox should allow.

    Right: `default allow` with `include @stock-denylist`; or `syscalls none`, where no filter is meant.
    """

    code: ClassVar[str] = "SBX506"
    severity: ClassVar[Severity] = Severity.LINT

    def title(self) -> str:
        return "`default allow` without any `include`: every call that is not named here is open"

    def help(self) -> str | None:
        return "add `include @stock-denylist` (with `use <stock>`)"


class ForeignAbiOpen(Diagnostic):
    """Most kernels can be entered by more than one ABI (`int 0x80` on x86-64), each with its own numbers.

    A filter that lets foreign ABIs in is gone round by a program that enters by one.

    Right: `foreign-abi kill-process`; an ABI that is needed is joined: `abi x86_64 + i386`.
    """

    code: ClassVar[str] = "SBX507"
    severity: ClassVar[Severity] = Severity.LINT
    verdict: str

    def title(self) -> str:
        return f"`foreign-abi {self.verdict}`: a call by another ABI goes round every rule"

    def help(self) -> str | None:
        return "write `foreign-abi kill-process`, and join the ABIs that are needed: `abi x86_64 + i386`"


class ProgramsCannotRun(Diagnostic):
    """Ordinary programs cannot start or end without some calls, whatever they do in between.

    `execve` starts the command under the filter, loaders map libraries with `mmap` and `mprotect`, and every process
    ends with `exit_group`: with one of these denied, no command works. `brk`, `read`, `close` and `set_tid_address` may
    fail, but where they kill, programs die before their first line.

    Right: leave these calls allowed, or say which arguments are meant: `deny EPERM mmap when prot has any PROT_EXEC`.
    """

    code: ClassVar[str] = "SBX520"
    severity: ClassVar[Severity] = Severity.LINT
    call: str
    action: str

    def title(self) -> str:
        what = "denied" if self.action == "errno" else f"answered by `{self.action}`"
        return f"with `{self.call}` {what}, ordinary programs cannot run"

    def help(self) -> str | None:
        return f"allow `{self.call}`, or add a condition"


class StartFolderMissing(Diagnostic):
    """The command starts in a folder of the sandbox, which some statement must show.

    `start-in` names a path as it is seen inside: of `write ${tree} as /work` that is `/work`. Where a parameter or a
    link may lead there, this cannot be told before the run.

    Right: `write ${tree} as /work; start-in /work`.
    """

    code: ClassVar[str] = "SBX521"
    severity: ClassVar[Severity] = Severity.LINT
    path: str
    hidden: bool

    def title(self) -> str:
        why = "a statement hides it" if self.hidden else "no statement shows it"
        return f"there is no `{self.path}` to start in: {why}"

    def help(self) -> str | None:
        return "name a folder that a `read`, `write` or `tmp` statement shows"


class Overridden(Diagnostic):
    """A statement of the parent profile no longer holds: the child has one on the same subject.

    This is how `extends` works; `check` lists it so that nothing is replaced unseen.
    """

    code: ClassVar[str] = "SBX540"
    severity: ClassVar[Severity] = Severity.NOTE
    child: str
    parent: str
    where: tuple[Span, ...]

    def title(self) -> str:
        return f"`{self.child}` replaces the parent's `{self.parent}`"

    def secondary(self) -> tuple[Label, ...]:
        return tuple(Label(span, "replaced") for span in self.where)
