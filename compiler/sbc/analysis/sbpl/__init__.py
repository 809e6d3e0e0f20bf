"""Lints of SBPL profiles, whoever wrote them: what is written and cannot be meant."""
