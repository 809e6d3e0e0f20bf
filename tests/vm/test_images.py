"""Images are kept between runs, and never beyond a change of what they are made from."""

import shutil
from pathlib import Path

import pytest

from tests.vm.images import HERE, IMAGES, recipe
from tests.vm.kept import kept

TRIXIE = IMAGES["amd64-trixie"]
SOURCES = ("images.py", "archive.py", "debian.py", "kept.py", "guest/init", "guest/start")


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Give a copy of what images are made from."""
    return Path(shutil.copytree(HERE, tmp_path / "vm", ignore=shutil.ignore_patterns("__pycache__", "jobs")))


def test_the_same_recipe_is_the_same_wherever_it_lies(sources: Path) -> None:
    assert recipe(TRIXIE, sources) == recipe(TRIXIE)


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_is_part_of_the_recipe(sources: Path, name: str) -> None:
    before = recipe(TRIXIE, sources)
    (sources / name).write_text((sources / name).read_text() + "# changed\n")
    assert recipe(TRIXIE, sources) != before


def test_a_script_more_or_of_another_mode_is_another_recipe(sources: Path) -> None:
    found = {recipe(TRIXIE, sources)}
    (sources / "guest/start").chmod(0o644)
    found.add(recipe(TRIXIE, sources))
    (sources / "guest/more").touch()
    found.add(recipe(TRIXIE, sources))
    assert len(found) == 3


def test_every_image_has_its_own_recipe() -> None:
    images = [*IMAGES.values(), TRIXIE._replace(kernel="linux-image-amd64")]
    assert len({recipe(image) for image in images}) == len(images)


def test_a_changed_recipe_replaces_what_was_kept(tmp_path: Path) -> None:
    made: list[str] = []

    def get(word: str) -> list[str]:
        def make(folder: Path) -> None:
            made.append(word)
            (folder / word).touch()

        folder = kept(tmp_path / "image", word, make)
        assert (folder / word).exists()
        assert len(list(folder.iterdir())) == 2, "nothing of what was before is left"
        return made

    assert get("first") == ["first"]
    assert get("first") == ["first"]
    assert get("second") == ["first", "second"]
    assert {path.name for path in tmp_path.iterdir()} == {"image", "image.lock"}


def test_what_was_not_made_to_its_end_is_not_used(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise RuntimeError("no mirror")

    with pytest.raises(RuntimeError, match="no mirror"):
        kept(tmp_path / "image", "recipe", fail)
    assert [path.name for path in tmp_path.iterdir()] == ["image.lock"]
    assert (kept(tmp_path / "image", "recipe", lambda folder: (folder / "whole").touch()) / "whole").exists()


def test_a_folder_from_before_recipes_were_kept_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "image").mkdir()
    (tmp_path / "image/packages").write_text("python3.13-minimal")
    folder = kept(tmp_path / "image", "recipe", lambda _: None)
    assert [path.name for path in folder.iterdir()] == ["recipe"]
