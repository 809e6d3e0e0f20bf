"""The figures of the compiler, beside its peers'."""
