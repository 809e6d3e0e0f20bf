"""Give each call the same argument names on every ABI.

The kernel's own definitions differ in places (`off`, `offset`): the first ABI of ORDER that has the call decides.
Where an ABI passes all arguments in one structure in memory (old `mmap`), the names stay and have no register.
"""

import abis
import widths
from signatures import Placed

ORDER = ("x86_64", "i386", "aarch64", "riscv64", "s390x", "ppc64le", "arm", "x32", "loongarch64", "mips64el")
# One name, two calls: these share no argument with the call of that name elsewhere.
UNRELATED = {("mips64el", "cacheflush")}
Signatures = dict[str, dict[str, list[Placed]]]


def canonical(signatures: Signatures) -> Signatures:
    """The signatures by ABI and call, with the canonical names."""
    first: dict[str, list[Placed]] = {}
    for abi in ORDER:
        for call, placed in signatures[abi].items():
            first.setdefault(call, placed)
    return {
        abi: {call: _renamed(abi, call, placed, first[call]) for call, placed in sorted(calls.items())}
        for abi, calls in signatures.items()
    }


def _renamed(abi: str, call: str, placed: list[Placed], model: list[Placed]) -> list[Placed]:
    names = [argument.name for argument in model]
    if {argument.name for argument in placed} == set(names) or (abi, call) in UNRELATED:
        return placed
    if len(placed) == 1 and placed[0].code.startswith("p") and len(names) > 1:
        word = abis.BY_NAME[abi].word
        return [a._replace(registers=(), code=widths.code(a.ctype, word)) for a in model] + placed
    if len(placed) == len(names):
        return [argument._replace(name=name) for argument, name in zip(placed, names, strict=True)]
    print(f"{abi} {call}: {[a.name for a in placed]} is not {names}")
    return placed
