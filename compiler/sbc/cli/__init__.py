"""The `sbc` command: one module for each subcommand, imported only when it is called."""
