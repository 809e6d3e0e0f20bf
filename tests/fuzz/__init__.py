"""Fuzzing of the front end: `python -m tests.fuzz.fuzz_parser --minutes 10`."""
