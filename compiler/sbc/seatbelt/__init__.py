"""What an SBPL profile decides, computed without a Mac.

`load` evaluates a profile to rules, `decide` answers one question about them. Everything here follows what was observed
or read (`macos` holds the tables); what is open stays open and is reported, never guessed. Nothing of it has run on a
Mac. It shares no code with the emitter, so that one mistake cannot hide in both.
"""
