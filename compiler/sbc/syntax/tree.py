"""The syntax tree of a `.sbx` file: what was written, with the place of each piece, before any name is resolved.

Every node's `span` covers it without surrounding blanks or comments. `reason` holds the `##` lines just above a
statement, joined by newlines, without the marks.
"""

from typing import Literal

from sbc.diagnostics.span import Span
from sbc.record import Record

# ---- words and values -------------------------------------------------------------------------------------------


class Word(Record):
    """A bare word: a name, a constant, a pattern with `*`, an operation of SBPL."""

    text: str
    span: Span


class Text(Record):
    """A string: its value, escapes undone."""

    value: str
    span: Span


class Number(Record):
    """An integer as written (`0x10`), and its value."""

    value: int
    text: str
    span: Span


class Size(Record):
    """A size in bytes, as written (`64KiB`)."""

    value: int
    text: str
    span: Span


class Duration(Record):
    """A time in milliseconds, as written (`10min`)."""

    value: int
    text: str
    span: Span


class Path(Record):
    """A path, bare or as a string: its text with escapes undone, `~/` and a leading `${name}` left in.

    `base` is the parameter that it begins with (`home` for `~`), `rest` what follows, not yet normalised. A string's
    `\\$` gives a literal dollar: only an unescaped `${name}` at the start is a base.
    """

    base: str | None
    rest: str
    quoted: bool
    span: Span


class GroupRef(Record):
    """`@name`, without the mark."""

    name: str
    span: Span


class ParamRef(Record):
    """`${name}` as a whole value."""

    name: str
    span: Span


class StockRef(Record):
    """`<name>`: a file of the stock library."""

    name: str
    span: Span


class Range(Record):
    """`low..high`, both ends in."""

    low: "Constant"
    high: "Constant"
    span: Span


class Constant(Record):
    """`A | B | 0x10`: constants, numbers and groups OR-ed; usually one."""

    terms: tuple[Word | Number | GroupRef, ...]
    span: Span


class SetOf(Record):
    """`{ A B @group }`."""

    members: tuple[Constant, ...]
    span: Span


# ---- syscalls ---------------------------------------------------------------------------------------------------


class VerdictWord(Record):
    """A verb and its value: `deny EPERM`, `trace 7`, `allow`. `verb` is its word in the language."""

    verb: Literal["allow", "deny", "kill-process", "kill-thread", "trap", "trace", "log", "notify"]
    value: Word | Number | None
    span: Span


class Subject(Record):
    """An argument by name or as `argN`, with an optional type (`arg0:u64`)."""

    name: str
    type: Word | None
    span: Span


class Compare(Record):
    """`X == V` and the orders."""

    subject: Subject
    operator: Literal["==", "!=", "<", "<=", ">", ">="]
    value: Constant
    span: Span


class Member(Record):
    """`X in { ... }`, `X in @group`, `X in V..V`."""

    subject: Subject
    values: SetOf | GroupRef | Range
    span: Span


class MaskEqual(Record):
    """`X & MASK == V`."""

    subject: Subject
    mask: Constant
    value: Constant
    span: Span


class Has(Record):
    """`X has any|all|none|only B`."""

    subject: Subject
    quantifier: Literal["any", "all", "none", "only"]
    bits: Constant | SetOf
    span: Span


class Negation(Record):
    """`not C`."""

    operand: "Condition"
    span: Span


class Conjunction(Record):
    """`C and D`."""

    operands: "tuple[Condition, ...]"
    span: Span


class Disjunction(Record):
    """`C or D`."""

    operands: "tuple[Condition, ...]"
    span: Span


Condition = Compare | Member | MaskEqual | Has | Negation | Conjunction | Disjunction


class Guard(Record):
    """`when C` or `unless C`."""

    word: Literal["when", "unless"]
    condition: Condition
    span: Span


class CallRule(Record):
    """A verdict on some calls: names, globs (`io_uring_*`), groups."""

    verdict: VerdictWord
    calls: tuple[Word | GroupRef, ...]
    guard: Guard | None
    reason: str
    span: Span


class AbiList(Record):
    """`abi x86_64 + i386, aarch64`: filters, each a tuple of joined ABIs."""

    filters: tuple[tuple[Word, ...], ...]
    reason: str
    span: Span


class ForeignAbi(Record):
    """`foreign-abi VERDICT`."""

    verdict: VerdictWord
    reason: str
    span: Span


class DefaultVerdict(Record):
    """`default VERDICT`."""

    verdict: VerdictWord
    reason: str
    span: Span


class NewerThan(Record):
    """`newer than linux VERSION VERDICT`."""

    version: Word
    verdict: VerdictWord
    reason: str
    span: Span


class Include(Record):
    """`include @rules`."""

    rules: GroupRef
    reason: str
    span: Span


class OnAbis(Record):
    """`on A B { rules }`."""

    abis: tuple[Word, ...]
    body: "tuple[SyscallStatement, ...]"
    reason: str
    span: Span


SyscallStatement = CallRule | AbiList | ForeignAbi | DefaultVerdict | NewerThan | Include | OnAbis

# ---- the other blocks -------------------------------------------------------------------------------------------


class RootStatement(Record):
    """`root private|host`."""

    kind: Word
    reason: str
    span: Span


class PathStatement(Record):
    """`read|write|hide PATHS [as Q] [identity "TEXT"] [optional] [noexec]`."""

    verb: Literal["read", "write", "hide"]
    paths: tuple[Path | GroupRef, ...]
    place: Path | None
    identity: Text | None
    optional: bool
    noexec: bool
    reason: str
    span: Span


class TmpStatement(Record):
    """`tmp PATH [size S] [inodes N] [noexec]`."""

    path: Path
    size: Size | Number | ParamRef | None
    inodes: Number | ParamRef | None
    noexec: bool
    reason: str
    span: Span


class DevicesStatement(Record):
    """`devices none|minimal|standard|host`."""

    kind: Word
    reason: str
    span: Span


class StartInStatement(Record):
    """`start-in PATH`."""

    path: Path
    reason: str
    span: Span


class ProcStatement(Record):
    """`read-only|hide ENTRIES`: bare entry names, paths under /proc, or groups of such paths."""

    verb: Literal["read-only", "hide"]
    entries: tuple[Word | Path | GroupRef, ...]
    reason: str
    span: Span


class LocalStatement(Record):
    """`connect|bind HOST:PORT`; the port is a number or `*`. Only `localhost` will resolve."""

    verb: Literal["connect", "bind"]
    host: Word
    port: Number | Word
    reason: str
    span: Span


class UnixStatement(Record):
    """`unix PATH`."""

    path: Path
    reason: str
    span: Span


class PatternStatement(Record):
    """`keep|drop PATTERNS`."""

    verb: Literal["keep", "drop"]
    patterns: tuple[Word, ...]
    reason: str
    span: Span


class SetStatement(Record):
    """`set NAME = VALUE`."""

    name: Word
    value: Text | ParamRef
    reason: str
    span: Span


class ValueStatement(Record):
    """`KEY VALUE` of the `identity` and `limits` blocks."""

    key: Word
    value: Number | Size | Duration | Text | Range | ParamRef
    reason: str
    span: Span


class SeatbeltDefault(Record):
    """`default allow|deny`."""

    action: Word
    reason: str
    span: Span


class SeatbeltFilter(Record):
    """`NAME ARGUMENTS` or `require-all|require-any|require-not { filters }`."""

    name: Word
    arguments: tuple[Word | Text | Number, ...]
    inner: "tuple[SeatbeltFilter, ...]"
    span: Span


class SeatbeltRule(Record):
    """`allow|deny OPERATIONS [{ filters }]`."""

    action: Literal["allow", "deny"]
    operations: tuple[Word, ...]
    filters: tuple[SeatbeltFilter, ...]
    reason: str
    span: Span


class SeatbeltImport(Record):
    """`import "NAME"`."""

    path: Text
    reason: str
    span: Span


class OnSystem(Record):
    """`on linux|macos { statements }`, in any block but `syscalls`."""

    system: Word
    body: "tuple[Statement, ...]"
    reason: str
    span: Span


Statement = (
    SyscallStatement
    | RootStatement
    | PathStatement
    | TmpStatement
    | DevicesStatement
    | StartInStatement
    | ProcStatement
    | LocalStatement
    | UnixStatement
    | PatternStatement
    | SetStatement
    | ValueStatement
    | SeatbeltDefault
    | SeatbeltRule
    | SeatbeltImport
    | OnSystem
)


class Block(Record):
    """A block of a profile.

    `keyword` is `syscalls`, `files`, `proc`, `network`, `environment`, `identity`, `limits`, `seatbelt` or
    `containment`, kept as a word so that an unknown one is an error of ours with a place. `mode` is the word after it
    (`syscalls none`, `network none|host`, `containment required`). `body` is None where no `{ }` was written.
    """

    keyword: Word
    mode: Word | None
    body: tuple[Statement, ...] | None
    reason: str
    span: Span


# ---- the top level ----------------------------------------------------------------------------------------------


class Use(Record):
    """`use "path.sbx"` or `use <stock>`."""

    target: Text | StockRef
    span: Span


class Group(Record):
    """`group @name { members }`: calls, constants or paths."""

    name: GroupRef
    members: tuple[Word | Number | Constant | Path | GroupRef, ...]
    reason: str
    span: Span


class RulesDefinition(Record):
    """`rules @name { ... }`."""

    name: GroupRef
    body: tuple[SyscallStatement, ...]
    reason: str
    span: Span


class ParamDeclaration(Record):
    """`param NAME : TYPE [= default]`."""

    name: Word
    type: Word
    default: Number | Size | Duration | Text | Path | None
    reason: str
    span: Span


class Profile(Record):
    """`profile NAME [extends NAME] { ... }`."""

    name: Word
    extends: Word | None
    params: tuple[ParamDeclaration, ...]
    blocks: tuple[Block, ...]
    reason: str
    span: Span


class SourceTree(Record):
    """A whole file; `version` is the number after `sbx`."""

    version: Number
    items: tuple[Use | Group | RulesDefinition | Profile, ...]
    span: Span
