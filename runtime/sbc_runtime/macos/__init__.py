"""Running a command on macOS: `sandbox-exec`, the profile's environment, and the limits that macOS holds.

Nothing here has run on a Mac. It is tested with another program in sandbox-exec's place, which reads the profile with
our evaluator; `tests/macos/` is for who has one.
"""
