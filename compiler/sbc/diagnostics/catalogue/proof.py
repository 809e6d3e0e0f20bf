"""SBX6xx: a filter that cannot be made, cannot be proven, or is wrong."""

from sbc.diagnostics.diagnostic import Diagnostic
from sbc.diagnostics.span import Span


class FilterTooLarge(Diagnostic):
    """The kernel takes filters of at most 4,096 instructions (`BPF_MAXINSNS`), and this profile needs more.

    Rules that list many single values of an argument cost most: say a range (`V..V`) or a mask (`has`) instead.
    """

    code = "SBX601"

    span: Span | None
    abi: str
    instructions: int
    limit: int
    call: str | None

    def title(self) -> str:
        return f"the filter for {self.abi} would have {self.instructions} instructions, the kernel takes {self.limit}"

    def help(self) -> str | None:
        costly = f"`{self.call}` costs most; " if self.call else ""
        return f"{costly}use ranges and masks instead of long lists of values"


class TooComplexToProve(Diagnostic):
    """Every filter is compared with its policy for every input, within a budget of 500,000 diagram nodes.

    Rules on one call that mix many unrelated values of many arguments can pass the budget. Nothing is written then: a
    filter that is not proven is not trusted. Split the condition into rules on fewer arguments.
    """

    code = "SBX602"

    span: Span | None
    abi: str
    call: str | None
    what: str

    def title(self) -> str:
        place = f" at `{self.call}`" if self.call else ""
        return f"too complex to prove{place} on {self.abi}: {self.what}"

    def help(self) -> str | None:
        return "make the rules on this call simpler: fewer arguments in one condition, ranges instead of lists"


class FilterIsWrong(Diagnostic):
    """The filter that was made does not decide as the policy says. This is a mistake in `sbc`, never in the profile.

    Nothing was written. Please report it with the profile and this message, which names one call that differs.
    """

    code = "SBX603"

    span: Span | None
    abi: str
    what: str

    def title(self) -> str:
        return f"internal error: the filter for {self.abi} is wrong: {self.what}"

    def help(self) -> str | None:
        return "nothing was written; this is a mistake in sbc: please report it with the profile"


class FilterLetsAllThrough(Diagnostic):
    """A filter that carries out every call of every ABI decides nothing, and nobody who reads a report would know.

    Right: `syscalls none`, which every report says out loud; or a rule, a `default` or a `foreign-abi` that denies.
    """

    code = "SBX604"

    span: Span | None
    abi: str

    def title(self) -> str:
        return f"the filter for {self.abi} lets every call of every ABI through"

    def help(self) -> str | None:
        return "write `syscalls none` if no filter is meant"


class ProfileIsWrong(Diagnostic):
    """The SBPL profile that was made does not decide as the policy says. This is a mistake in `sbc`, never in yours.

    Every profile is read back and compared with its policy for the paths, operations, addresses and names that matter.
    Nothing was written. Please report it with the policy and this message, which names one decision that differs.
    """

    code = "SBX605"

    span: Span | None
    profile: str
    what: str

    def title(self) -> str:
        return f"internal error: the SBPL profile of `{self.profile}` is wrong: {self.what}"

    def help(self) -> str | None:
        return "nothing was written; this is a mistake in sbc: please report it with the policy"
