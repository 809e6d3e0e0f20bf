"""What can be said of a whole policy: lints, explanations, and the figures of `sbc check`."""
