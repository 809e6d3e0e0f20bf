"""Tests on other kernels: Debian's kernels, booted in QEMU with an initramfs of ours."""
