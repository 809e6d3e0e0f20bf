"""Assembly: the graph of tests becomes a program; loads are put in, distances are counted, far jumps bridged.

A test's block is `ld WORD`, `and MASK` (for a field under a mask), then the jump; whoever holds the word or the field
in the accumulator already enters the block further down. Blocks are laid out from the end of the program backwards,
successors first, so the distance of each jump is known when it is written. A conditional jump reaches 255
instructions: where its target is further, a copy of the target (a return) or a JA to it is put just behind the jump,
and later jumps use it too. No block is entered by falling into it, so either may stand anywhere between blocks.
"""

from sbc.backends.bpf.code import Code, Return, Test
from sbc.backends.bpf.fields import FULL, Field
from sbc_runtime.instruction import ABS, ALU, AND, JA, JMP, LD, RET, Instruction, K, Program, W

JUMP, MASK, LOAD = range(3)
"""Where a block is entered: at its jump, its AND, its load."""

REACH = 255
"""The largest distance of a conditional jump."""

_LOAD = LD | W | ABS
_AND = ALU | AND | K
_JA = JMP | JA
_RET = RET | K


def entry(held: Field | None, node: Return | Test) -> int:
    """Tell where a block is entered with `held` in the accumulator."""
    if isinstance(node, Return) or held == node.field:
        return JUMP
    if held is not None and held.offset == node.field.offset and held.mask & node.field.mask == node.field.mask:
        return MASK
    return LOAD


def entries(code: Code, root: int) -> dict[int, int]:
    """Give each block that is reached, the root's first, each before its successors, with its first entry used."""
    used: dict[int, int] = {}
    first = code.nodes[root]
    for index in code.reachable(root):
        node = code.nodes[index]
        used.setdefault(index, entry(None, first) if index == root else JUMP)
        if isinstance(node, Test):
            for successor in (node.yes, node.no):
                used[successor] = max(used.get(successor, JUMP), entry(node.field, code.nodes[successor]))
    return used


def block_size(node: Return | Test, used: int) -> int:
    """Give the number of instructions of a block that is entered at `used` or further down."""
    if used == JUMP:
        return 1
    masked = isinstance(node, Test) and node.field.mask != FULL
    return (2 if masked else 1) + (used == LOAD)


def size(code: Code, root: int) -> int:
    """Give the number of instructions of the code at `root`, if every jump is near."""
    return sum(block_size(code.nodes[index], used) for index, used in entries(code, root).items())


def assemble(code: Code, root: int) -> Program:
    """Give the program of the code at `root`."""
    layout = _Layout(code)
    used = entries(code, root)
    for index in _order(code, root):
        layout.place(index, used[index])
    return tuple(reversed(layout.backwards))


def _order(code: Code, root: int) -> list[int]:
    """Give the blocks from the end of the program backwards: successors first, the larger part last in the program.

    So the way over the nearer part, which a jump must bridge, is short.
    """
    weight: dict[int, int] = {}
    for index in reversed(code.reachable(root)):
        node = code.nodes[index]
        weight[index] = min(1 + weight[node.yes] + weight[node.no], 1 << 40) if isinstance(node, Test) else 0
    order: list[int] = []
    placed: set[int] = set()
    stack = [root]
    while stack:
        index = stack[-1]
        node = code.nodes[index]
        open_ones: list[int] = []
        if index not in placed and isinstance(node, Test):
            open_ones = [successor for successor in (node.no, node.yes) if successor not in placed]
        if open_ones:
            stack.append(max(open_ones, key=lambda successor: weight[successor]))
            continue
        stack.pop()
        if index not in placed:
            placed.add(index)
            order.append(index)
    return order


class _Layout:
    """The program so far, backwards: places are counted from the end."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.backwards: list[Instruction] = []
        self.nearest: dict[tuple[int, int], int] = {}  # block and entry: the latest place that leads there

    def place(self, index: int, used: int) -> None:
        """Write a block in front of the program."""
        node = self.code.nodes[index]
        if isinstance(node, Return):
            self._write((index, JUMP), Instruction(_RET, 0, 0, node.value))
            return
        yes = (node.yes, entry(node.field, self.code.nodes[node.yes]))
        no = (node.no, entry(node.field, self.code.nodes[node.no]))
        while self._distance(yes) > REACH or self._distance(no) > REACH:
            self._bridge(yes if self._distance(yes) > REACH else no)
        jump = Instruction(JMP | node.op | K, self._distance(yes), self._distance(no), node.k)
        self._write((index, JUMP), jump)
        if used != JUMP and node.field.mask != FULL:
            self._write((index, MASK), Instruction(_AND, 0, 0, node.field.mask))
        if used == LOAD:
            self._write((index, LOAD), Instruction(_LOAD, 0, 0, node.field.offset))

    def _write(self, leads_to: tuple[int, int], instruction: Instruction) -> None:
        self.nearest[leads_to] = len(self.backwards)
        self.backwards.append(instruction)

    def _distance(self, target: tuple[int, int]) -> int:
        return len(self.backwards) - 1 - self.nearest[target]

    def _bridge(self, target: tuple[int, int]) -> None:
        node = self.code.nodes[target[0]]
        if isinstance(node, Return):
            self._write(target, Instruction(_RET, 0, 0, node.value))
        else:
            self._write(target, Instruction(_JA, 0, 0, self._distance(target)))
