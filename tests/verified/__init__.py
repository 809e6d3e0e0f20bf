"""What was verified where: claims of the documentation, and the results of the tests that hold them.

Set `SBC_RESULTS=FILE` when tests are run: their results are added to FILE, one JSON object a line, and

    python -m tests.verified FILE --update docs/security.md

makes the table from them. Nobody writes a cell of it by hand.
"""
