"""The `seatbelt` block: SBPL rules in SBPL's own names, which its back end knows and checks."""

from sbc.diagnostics.diagnostic import Reporter
from sbc.policy.origin import Origin
from sbc.policy.policy import Override
from sbc.policy.seatbelt import SbplDefault, SbplFilter, SbplImport, SbplRule, SbplString, SbplWord, Seatbelt
from sbc.resolve.chain import Level
from sbc.resolve.inherit import Entry, inherited, refuse_repeats
from sbc.resolve.origins import block_origin, origin_of
from sbc.resolve.systems import opened
from sbc.syntax import tree


def lower_seatbelt(levels: list[Level], overrides: list[Override], reporter: Reporter) -> Seatbelt:
    """Give the policy of the `seatbelt` blocks of a chain.

    In SBPL the last match wins, so the nearest profile's rules come last.
    """
    written = [level.blocks["seatbelt"] for level in levels if "seatbelt" in level.blocks]
    if not written:
        nothing = Origin("seatbelt", "no `seatbelt` block")
        return Seatbelt(SbplDefault("deny", nothing), (), nothing)
    defaults: list[list[Entry[SbplDefault]]] = []
    statements: list[SbplRule | SbplImport] = []
    for block in reversed(written):
        stated: list[Entry[SbplDefault]] = []
        for statement, on in opened(block.body or (), reporter):
            origin = origin_of("seatbelt", statement, on)
            match statement:
                case tree.SeatbeltDefault():
                    action = "allow" if statement.action.text == "allow" else "deny"
                    stated.append(Entry(("`default`",), origin, SbplDefault(action, origin)))
                case tree.SeatbeltRule():
                    operations = tuple(word.text for word in statement.operations)
                    filters = tuple(_filter(one) for one in statement.filters)
                    statements.append(SbplRule(statement.action, operations, filters, origin))
                case tree.SeatbeltImport():
                    statements.append(SbplImport(statement.path.value, origin))
                case _:
                    raise AssertionError(statement)
        refuse_repeats(stated, reporter)
        defaults.append(stated)
    kept = [entry.value for entry in inherited(defaults[::-1], overrides)]
    # The block speaks to macOS alone: a default for the other system is none here.
    here = [one for one in kept if one.origin.on != "linux"]
    missing = SbplDefault("deny", Origin("seatbelt", "no `default` in the `seatbelt` block"))
    return Seatbelt(here[0] if here else missing, tuple(statements), block_origin("seatbelt", written[0]))


def _filter(written: tree.SeatbeltFilter) -> SbplFilter:
    return SbplFilter(
        written.name.text,
        tuple(_argument(one) for one in written.arguments),
        tuple(_filter(one) for one in written.inner),
    )


def _argument(written: "tree.Word | tree.Text | tree.Number") -> "SbplWord | SbplString | int":
    match written:
        case tree.Word():
            return SbplWord(written.text)
        case tree.Text():
            return SbplString(written.value)
        case tree.Number():
            return written.value
