"""The `syscalls` block: one policy for each filter, each ABI by its own numbers."""

from typing import cast

from sbc.diagnostics.catalogue import names, verdicts
from sbc.diagnostics.diagnostic import Reporter
from sbc.kernel.numbers import numbers
from sbc.kernel.releases import known_releases, last_number
from sbc.policy.conditions import ALWAYS
from sbc.policy.origin import Origin
from sbc.policy.policy import Override
from sbc.policy.syscalls import AbiRules, FilterPolicy, Newer, Rule, Syscalls
from sbc.resolve.calls import MAX_RULES, PlacedNewer, Statements
from sbc.resolve.chain import Level
from sbc.resolve.groups import Groups
from sbc.resolve.guards import Guards
from sbc.resolve.multiplexers import Multiplexers
from sbc.resolve.origins import block_origin, origin_of
from sbc.resolve.reach import check_absent, check_unreached
from sbc.resolve.scope import Scopes
from sbc.resolve.subjects import Place
from sbc.resolve.verdicts import verdict_of
from sbc.syntax import tree
from sbc_runtime.action import ALLOW, KILL_PROCESS, Verdict
from sbc_runtime.arch import ARCHES

STOCK = "stock"
STOCK_RULES = "stock-denylist"
_ARM_MAIN_END = 0xEFFFF
"""The last number before arm's private calls (`__ARM_NR_BASE`, `arch/arm/include/uapi/asm/unistd.h`)."""

_NO_BLOCK = Origin("syscalls", "no `syscalls` block")
_NO_FOREIGN = Origin("syscalls", "no `foreign-abi` statement")


class SyscallLowering:
    """Lowers the `syscalls` blocks of a chain of profiles."""

    def __init__(self, scopes: Scopes, groups: Groups, reporter: Reporter) -> None:
        self._scopes = scopes
        self._groups = groups
        self._reporter = reporter
        self._guards = Guards(groups, reporter)
        self._statements = Statements(scopes, groups, reporter)
        self._origins: dict[int, Origin] = {}
        self._default: tuple[tree.VerdictWord | None, Origin] = (None, _NO_BLOCK)
        self._used: set[int] = set()
        self._count = 0
        self.overrides: list[Override] = []
        self.listed: list[Origin] = []

    def lower(self, levels: list[Level]) -> Syscalls:
        """Give the policy of the block; what it replaced and what is in force are kept beside it."""
        written = [(at, one, one.blocks["syscalls"]) for at, one in enumerate(levels) if "syscalls" in one.blocks]
        if not written:
            return self._stock(levels)
        nearest = block_origin("syscalls", written[0][2])
        for index, (_, _, block) in enumerate(written):
            if block.mode is not None or written[0][2].mode is not None:
                for _, _, replaced in written[max(index, 1) :]:
                    self.overrides.append(Override(nearest, block_origin("syscalls", replaced)))
                written = written[: max(index, 1)]
                break
        if written[0][2].mode is not None:
            self.listed.append(nearest)
            return Syscalls((), nearest)
        for at, level, block in written:
            self._statements.block(cast("tuple[tree.SyscallStatement, ...]", block.body or ()), level.module, at)
        default = self._winner("default")
        if isinstance(default, tree.DefaultVerdict):
            self._default = default.verdict, self._origin(default)
        else:
            self._reporter.add(verdicts.NoDefault(written[0][2].keyword.span))
        return Syscalls(self._filters(self._abi_list()), nearest)

    def _stock(self, levels: list[Level]) -> Syscalls:
        """`default allow; include @stock-denylist`, on every ABI: what holds where no profile says anything."""
        self.listed.append(_NO_BLOCK)
        library = self._scopes.modules.stock(STOCK)
        if library is not None and levels:
            at = levels[0].profile.name.span
            self._statements.include(tree.GroupRef(STOCK_RULES, at), library, frozenset(ARCHES), len(levels))
        return Syscalls(self._filters(_every_abi()), _NO_BLOCK)

    def _winner(self, key: str) -> "tree.AbiList | tree.ForeignAbi | tree.DefaultVerdict | None":
        """Give the nearest profile's statement; it replaces those of the profiles that it extends."""
        found = [statement for (_, name), statement in sorted(self._statements.single.items()) if name == key]
        for replaced in found[1:]:
            self.overrides.append(Override(self._origin(found[0]), self._origin(replaced)))
        if not found:
            return None
        self._used.add(id(found[0]))
        return found[0]

    def _origin(self, statement: tree.SyscallStatement) -> Origin:
        key = id(statement)
        if key not in self._origins:
            self._origins[key] = origin_of("syscalls", statement)
        return self._origins[key]

    # ---- which filters ------------------------------------------------------------------------------------------

    def _abi_list(self) -> list[tuple[str, ...]]:
        written = self._winner("abi")
        if not isinstance(written, tree.AbiList):
            return _every_abi()
        words = [word for joined in written.filters for word in joined]
        known = set(self._statements.known_abis(tuple(words)))
        for joined in written.filters:
            self._check_joined([word for word in joined if word.text in known])
        named = ([word.text for word in joined if word.text in known] for joined in written.filters)
        return [tuple(dict.fromkeys(joined)) for joined in named if joined]

    def _check_joined(self, joined: list[tree.Word]) -> None:
        for word in joined[1:]:
            if ARCHES[word.text].kernel != ARCHES[joined[0].text].kernel:
                self._reporter.add(verdicts.JoinedKernels(word.span, word.text, joined[0].text))
        names_here = {word.text for word in joined}
        for word in joined:
            if word.text == "x32" and "x86_64" not in names_here:
                self._reporter.add(verdicts.LoneX32(word.span))

    def _filters(self, abis: list[tuple[str, ...]]) -> tuple[FilterPolicy, ...]:
        listed = [abi for joined in abis for abi in joined]
        foreign = self._winner("foreign-abi")
        newer = {abi: self._newer(abi) for abi in listed}
        rules: dict[str, list[Rule]] = {}
        for abi in listed:
            if (found := self._rules(abi)) is None:
                return ()
            rules[abi] = found

        def fallback(abi: str, number: int) -> Verdict:
            later = newer[abi]
            return later.verdict if later and later.low <= number <= later.high else self._default_on(abi)

        Multiplexers(fallback, self._reporter).check(self._statements.rules, rules)
        check_absent(self._statements.rules, listed, self._reporter)
        check_unreached(self._statements, self._guards, listed, self._scopes, self._reporter)
        filters: list[FilterPolicy] = []
        for joined in abis:
            verdict, origin = KILL_PROCESS, _NO_FOREIGN
            if isinstance(foreign, tree.ForeignAbi):
                verdict = verdict_of(foreign.verdict, joined[0], self._reporter)
                origin = self._origin(foreign)
            policies = tuple(
                AbiRules(ARCHES[abi], tuple(rules[abi]), self._default_on(abi), self._default[1], newer[abi])
                for abi in joined
            )
            filters.append(FilterPolicy(policies, verdict, origin))
        self.listed.extend(self._origin(one) for key, one in self._statements.order.items() if key in self._used)
        return tuple(filters)

    def _default_on(self, abi: str) -> Verdict:
        word = self._default[0]
        return verdict_of(word, abi, self._reporter) if word is not None else ALLOW

    # ---- rules --------------------------------------------------------------------------------------------------

    def _rules(self, abi: str) -> list[Rule] | None:
        """Give the rules of an ABI; None where there are too many, which has then been told."""
        found: list[Rule] = []
        known = numbers(abi)
        for placed in self._statements.rules:
            if abi not in placed.abis:
                continue
            node = placed.node
            verdict = verdict_of(node.verdict, abi, self._reporter)
            origin = self._origin(node)
            guard = node.guard
            before = len(found)
            for word in placed.calls:
                number = known.get(word.text)
                if number is None:
                    continue
                condition = ALWAYS
                if guard is not None:
                    place = Place(word.text, abi, word.span)
                    condition = self._guards.lower(guard, placed.module, place)
                found.append(Rule(number, word.text, verdict, origin, condition))
            if len(found) > before:
                self._used.add(id(node))
                self._count += len(found) - before
                if self._count > MAX_RULES:
                    self._reporter.add(verdicts.TooManyRules(node.span, MAX_RULES))
                    return None
        return found

    def _newer(self, abi: str) -> Newer | None:
        """Give the second default of an ABI: the nearest profile's, for the numbers above a kernel's last."""
        found = sorted((one for one in self._statements.newer if abi in one.abis), key=lambda one: one.level)
        if not found:
            return None
        for replaced in found[1:]:
            if replaced.level != found[0].level:
                override = Override(self._origin(found[0].node), self._origin(replaced.node))
                if override not in self.overrides:
                    self.overrides.append(override)
        return self._newer_on(abi, found[0])

    def _newer_on(self, abi: str, placed: PlacedNewer) -> Newer | None:
        node = placed.node
        version = node.version.text
        verdict = verdict_of(node.verdict, abi, self._reporter)
        self._used.add(id(node))
        if version not in known_releases():
            known = known_releases()
            listed = f"{known[0]} to {known[-1]}"
            self._reporter.add(names.UnknownVersion(node.version.span, version, listed))
            return None
        if abi == "x32":  # its numbers are never newer: they are the other half of x86_64's table
            return None
        try:
            last = last_number(abi, version)
        except ValueError:
            self._reporter.add(verdicts.VersionBeforeAbi(node.version.span, version, abi))
            return None
        end = _ARM_MAIN_END if abi == "arm" else ARCHES[abi].last_number
        return Newer(last + 1, end, verdict, self._origin(node))


def _every_abi() -> list[tuple[str, ...]]:
    """One filter for each supported ABI; x32 shares x86_64's and is foreign unless it is joined."""
    return [(abi,) for abi in ARCHES if abi != "x32"]
