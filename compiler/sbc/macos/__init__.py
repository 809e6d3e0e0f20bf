"""What is known of macOS's sandbox: names and tables that the emitter and the evaluator share, and no code."""
