"""How each target enforces the statement that decides."""

from sbc.analysis.explain.answer import AccessAnswer
from sbc.backends.coverage import Coverage
from sbc.record import replaced


def on_targets(answer: AccessAnswer, table: Coverage) -> AccessAnswer:
    """Give the answer with the row that the coverage table has for its statement."""
    for row in table.rows:
        if row.origin == answer.origin:
            cells = zip(table.targets, row.cells, strict=True)
            states = tuple((name, f"{cell.state}: {cell.why}" if cell.why else cell.state) for name, cell in cells)
            return replaced(answer, targets=states)
    return answer
