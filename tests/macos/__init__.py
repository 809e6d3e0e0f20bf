"""What concerns macOS: running by sandbox-exec, with a stand-in for it here, and a script for who has a Mac."""
