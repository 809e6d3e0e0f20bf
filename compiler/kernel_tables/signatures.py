"""Put definitions and entry points together: what each ABI's call reads from which register."""

from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import widths
from abis import Abi
from definitions import Definition, Parameter, definitions
from expect import expect
from kconfig import settings
from tables import Row, rows

SKIPPED = ("arch/x86/um/", "mm/nommu.c", "kernel/time/posix-stubs.c", "arch/powerpc/kernel/pci_32.c",
           "arch/x86/kernel/process_32.c")  # fmt: skip


class Placed(NamedTuple):
    """One argument: its name and type, the registers that hold it (none: it is in memory)."""

    name: str
    ctype: str
    code: str
    registers: tuple[int, ...]

    def text(self, index: int) -> str:
        """The form of the data files: name, type, code and, unless it is register `index`, the registers."""
        where = "+".join(map(str, self.registers)) or "-"
        return ",".join([self.name, self.ctype, self.code] + ([where] if where != str(index) else []))


class Tree:
    """A Linux source tree, read once."""

    def __init__(self, path: Path) -> None:
        """Read all definitions of the tree at `path`."""
        self.path = path
        self._found: dict[tuple[str, bool], list[Definition]] = defaultdict(list)
        self._rows: dict[str, dict[str, Row]] = {}
        self._settings: dict[str, frozenset[str]] = {}
        for definition in definitions(path):
            self._found[definition.name, definition.compat].append(definition)

    def rows(self, abi: Abi) -> dict[str, Row]:
        """The table of `abi`."""
        if abi.name not in self._rows:
            self._rows[abi.name] = rows(self.path, abi)
        return self._rows[abi.name]

    def by_number(self, abi: Abi) -> dict[int, Row]:
        """The table of `abi` by number."""
        return {row.number: row for row in self.rows(abi).values()}

    def settings(self, abi: Abi) -> frozenset[str]:
        """The settings that the kernel of `abi` selects."""
        if abi.name not in self._settings:
            self._settings[abi.name] = settings(self.path, abi)
        return self._settings[abi.name]

    def parameters(self, entry: str, abi: Abi) -> tuple[Parameter, ...] | None:
        """The parameters of an entry point as built for `abi`."""
        compat = entry.startswith("compat_sys_")
        name = entry.removeprefix("compat_").removeprefix("__").removeprefix("sys_")
        if name == "ni_syscall":
            return None
        if name.endswith("sigreturn_wrapper") or name == "sysm_pipe":
            return ()
        fitting = [d for d in self._found.get((name, compat), []) if _fits(d, abi)]
        own = [d for d in fitting if d.path.startswith("arch/")]
        chosen = own or fitting
        if len({d.parameters for d in chosen}) > 1:
            chosen = [d for d in chosen if _built(d, self.settings(abi))]
        expect(len({d.parameters for d in chosen}) <= 1, entry, abi.name, chosen)
        return chosen[0].parameters if chosen else None

    def anywhere(self, call: str) -> tuple[Parameter, ...] | None:
        """The parameters of a call that only other architectures define, where they agree."""
        found = {d.parameters for d in self._found.get((call, False), []) if not d.path.startswith(SKIPPED)}
        return found.pop() if len(found) == 1 else None


def _fits(definition: Definition, abi: Abi) -> bool:
    path = definition.path
    if path.startswith(SKIPPED) or (path.startswith("arch/") and path.split("/")[1] not in _folders(abi)):
        return False
    return not (abi.word == 64 and "!(CONFIG_PPC64)" in definition.conditions)


def _folders(abi: Abi) -> tuple[str, ...]:
    return ("arm", "arm64") if abi.name == "arm" else (abi.folder,)


def _built(definition: Definition, selected: frozenset[str]) -> bool:
    """Whether the setting that the definition depends on is selected; the last variant is for kernels with none."""
    last = definition.conditions[-1] if definition.conditions else ""
    if last.startswith("!(defined(CONFIG_CLONE_"):
        return not any(setting.startswith("CONFIG_CLONE_") for setting in selected)
    return last.removeprefix("defined(").removesuffix(")") in selected


def signature(tree: Tree, abi: Abi, call: str, row: Row) -> list[Placed] | None:
    """What the entry point of `row` reads, or None where the tree does not define it."""
    named = tree.parameters(row.native, abi)
    reached = tree.parameters(row.compat, abi) if abi.word == 32 else named
    if abi.word == 32 and row.native.startswith("sys_ia32_"):
        named = tree.parameters(f"sys_{call}", abi)
    reached = reached if reached is not None else named
    return None if reached is None else place(named or reached, reached, abi)


def place(named: tuple[Parameter, ...], reached: tuple[Parameter, ...], abi: Abi) -> list[Placed]:
    """Give each named argument the registers that the reached entry point reads it from."""
    if named is reached:
        named = _joined(reached)
    placed: list[Placed] = []
    at = 0
    for parameter in named:
        expect(at < len(reached), named, reached)
        if reached[at].name == "__pad":
            at += 1
        ctype = widths.plain(parameter.ctype)
        if widths.code(ctype, abi.word).endswith("64") and abi.word == 32:
            expect(_is_pair(reached, at), named, reached)
            placed.append(Placed(parameter.name, ctype, widths.code(ctype, abi.word), (at, at + 1)))
            at += 2
        else:
            ctype = widths.plain(reached[at].ctype)
            placed.append(Placed(parameter.name, ctype, widths.code(ctype, abi.word), (at,)))
            at += 1
    expect(at == len(reached), named, reached)
    return placed


def _joined(reached: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """The parameters with each pair of halves as one of 64 bits."""
    found: list[Parameter] = []
    for index, parameter in enumerate(reached):
        if _is_pair(reached, index):
            found.append(Parameter("loff_t", parameter.name.removesuffix("_lo")))
        elif not (index and _is_pair(reached, index - 1)):
            found.append(parameter)
    return tuple(found)


def _is_pair(parameters: tuple[Parameter, ...], at: int) -> bool:
    """Whether the parameters at `at` and after it are the low and high half of one value."""
    if at + 1 >= len(parameters):
        return False
    first, second = parameters[at], parameters[at + 1]
    if first.ctype not in ("u32", "__u32", "unsigned int", "unsigned long"):
        return False
    return any(
        first.name.endswith(low) and second.name == first.name.removesuffix(low) + high
        for low, high in (("lo", "hi"), ("low", "high"), ("low", "hi"))
    )
