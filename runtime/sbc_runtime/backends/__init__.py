"""Ways to run a command apart from the host: one file each, one interface (`interface`)."""
