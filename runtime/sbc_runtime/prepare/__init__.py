"""From a plan to what is done on this machine: parameters filled in, paths resolved, mounts in order."""
