"""Exit statuses of `sbc`'s commands (`sbc run` passes on the command's)."""

FINE = 0
"""The command did what it was asked for."""

NO = 1
"""The answer is no: a lint, a deny, a difference, a document that is behind."""

WRONG = 2
"""The input or the call is wrong: some error diagnostic."""

REFUSED = 125
"""`sbc run`: the sandbox could not be set up as promised, or the call is wrong, and nothing was run."""
