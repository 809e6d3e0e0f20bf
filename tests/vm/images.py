"""Guest images: one of Debian's kernels, and an initramfs with Python, bubblewrap and the usual tools."""

import gzip
import lzma
import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.vm.archive import entries_of, pack
from tests.vm.debian import Packages
from tests.vm.kept import kept, recipe_of

HERE = Path(__file__).parent
GUEST = HERE / "guest"
PYTHON = {"bookworm": "3.11", "trixie": "3.13"}
APPLETS = (
    "sh", "mount", "umount", "cat", "ls", "mkdir", "reboot", "setsid", "stty", "id", "ps", "sleep", "echo", "uname",
    "chmod", "ip", "mknod", "su", "env", "true",
)  # fmt: skip
TOOLS = ("dash", "coreutils", "util-linux", "util-linux-extra", "bsdutils", "grep", "hostname")
"""What tests call inside of sandboxes, as on an installed system; busybox stands for the rest."""

MODULES = ("unix_diag",)
"""Of the kernel's: the guest loads them at its start, an installed system when they are first asked for."""

DROPPED = ("share/doc", "share/man", "share/locale", "share/info", "share/lintian", "share/perl5")
DROPPED_PYTHON = ("test", "idlelib", "lib2to3", "ensurepip", "tkinter", "pydoc_data")


class Image(NamedTuple):
    """A guest: Debian's name of the architecture, the suite of kernel and userland, the kernel's package."""

    arch: str
    suite: str
    kernel: str

    @property
    def name(self) -> str:
        """What tests call it."""
        return f"{self.arch}-{self.suite}"


IMAGES = {
    image.name: image
    for image in (
        Image("amd64", "bookworm", "linux-image-cloud-amd64"),
        Image("amd64", "trixie", "linux-image-cloud-amd64"),
        Image("arm64", "bookworm", "linux-image-cloud-arm64"),
        Image("arm64", "trixie", "linux-image-cloud-arm64"),
        Image("s390x", "bookworm", "linux-image-s390x"),
        Image("riscv64", "trixie", "linux-image-riscv64"),
    )
}


def cache_folder() -> Path:
    """Give the folder that keeps images: `SBC_LAB`, else one below the user's cache."""
    return Path(os.environ.get("SBC_LAB") or Path.home() / ".cache" / "sbc-guests")


def recipe(image: Image, here: Path = HERE) -> str:
    """Give the digest of what an image is made from: this module, those that it uses, and the guest's own scripts."""
    modules = (here / f"{name}.py" for name in ("images", "archive", "debian", "kept"))
    return recipe_of([*modules, *(here / "guest").iterdir()], *image)


def build(image: Image) -> Path:
    """Give the folder with an image's `vmlinuz` and `initrd.cpio`, made where no image of this recipe is there."""
    return kept(cache_folder() / "images" / image.name, recipe(image), lambda folder: _make(image, folder))


def _make(image: Image, folder: Path) -> None:
    version = PYTHON[image.suite]
    wanted = [f"python{version}-minimal", f"libpython{version}-stdlib", "busybox-static", "bubblewrap", *TOOLS]
    debs, root = folder / "debs", folder / "root"
    debs.mkdir()
    packages = Packages(folder / "apt", image.arch, image.suite)
    packages.download(packages.dependency(image.kernel, "linux-image-"), debs)
    packages.download_with_dependencies(wanted, debs)
    for package in sorted(debs.glob("*.deb")):
        target = folder / "kernel" if package.name.startswith("linux-image") else root
        subprocess.run(["dpkg-deb", "-x", package, target], check=True)
    _take_kernel(folder)
    _take_modules(folder, root / "modules")
    _arrange(root, version)
    (folder / "initrd.cpio").write_bytes(pack(entries_of(root)))
    for spent in (packages.root, debs, root, folder / "kernel"):
        shutil.rmtree(spent)


def _take_kernel(folder: Path) -> None:
    found = sorted([*folder.glob("kernel/boot/vmlinu?-*"), *folder.glob("kernel/usr/lib/modules/*/vmlinu?")])[0]
    content = found.read_bytes()
    (folder / "vmlinuz").write_bytes(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)


def _take_modules(folder: Path, target: Path) -> None:
    """Copy the kernel's modules, uncompressed; one that is not there is part of the kernel."""
    target.mkdir()
    for name in MODULES:
        for found in folder.glob(f"kernel/**/{name}.ko*"):
            content = found.read_bytes()
            (target / f"{name}.ko").write_bytes(lzma.decompress(content) if found.suffix == ".xz" else content)


def _arrange(root: Path, version: str) -> None:
    """Make a merged /usr, busybox's applets, accounts, and our init; leave out what tests never read."""
    usr = root / "usr"
    for name in ("bin", "sbin", "lib", "lib64"):
        (usr / name).mkdir(parents=True, exist_ok=True)
        if (root / name).is_dir() and not (root / name).is_symlink():
            shutil.copytree(root / name, usr / name, symlinks=True, dirs_exist_ok=True)
            shutil.rmtree(root / name)
        if not (root / name).is_symlink():
            (root / name).symlink_to(f"usr/{name}")
    for name in (*DROPPED, *(f"lib/python{version}/{package}" for package in DROPPED_PYTHON)):
        shutil.rmtree(usr / name, ignore_errors=True)
    for gconv in usr.glob("lib/*/gconv"):
        shutil.rmtree(gconv)
    (usr / "bin/python3").unlink(missing_ok=True)
    (usr / "bin/python3").symlink_to(f"python{version}")
    for applet in APPLETS:
        if not (usr / "bin" / applet).is_symlink() and not (usr / "bin" / applet).exists():
            (usr / "bin" / applet).symlink_to("busybox")
    for name in ("proc", "sys", "dev", "tmp", "run", "mnt", "job", "etc/alternatives", "root", "var/tmp"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in ("tmp", "var/tmp"):
        (root / name).chmod(0o1777)
    (root / "etc/ld.so.cache").touch()  # an empty one is passed over
    (root / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\n")
    (root / "etc/group").write_text("root:x:0:\nuser:x:1000:\n")
    for script in ("init", "start"):
        shutil.copy(GUEST / script, root / script)
