"""What a policy says to one question: a call, a path, a connection."""
