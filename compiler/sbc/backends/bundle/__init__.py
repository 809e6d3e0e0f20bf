"""The bundle: what every other target made, and the plan, in one file that the runtime reads."""
