"""What the compiler knows about the kernel."""
