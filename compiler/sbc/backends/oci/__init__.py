"""The place of the target `oci`: its name is taken in the registry, and asking for it says that it is not there yet."""
