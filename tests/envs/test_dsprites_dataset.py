"""The data set's own file: read when it is what it claims to be, refused with the difference otherwise."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.lib import format as npy

from btai.envs import dSpritesEnv
from btai.envs.dsprites import dataset, render_classes
from btai.envs.dsprites.dataset import DATA_SET, Contents, ImageFile, open_images, read_images
from btai.errors import EnvError

# A data set small enough to write: two shapes, three columns, two rows.
SIZES = (1, 2, 1, 1, 3, 2)
LATENTS = np.array([(0, shape, 0, 0, x, y) for shape in range(2) for x in range(3) for y in range(2)])
IMAGES = np.random.default_rng(0).integers(0, 2, (12, 64, 64), dtype=np.uint8)
SMALL = Contents(SIZES, lit_pixels=int(IMAGES.sum(dtype=int)))


def write(path: Path, **changes: Any) -> Path:
    """The small file with other arrays, or without those that are None."""
    arrays = {"imgs": IMAGES, "latents_classes": LATENTS} | changes
    np.savez_compressed(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


def refusal(path: Path, contents: Contents = SMALL) -> str:
    with pytest.raises(EnvError) as error:
        read_images(path, contents)
    return str(error.value)


def test_a_good_file_gives_its_images_by_class(tmp_path: Path) -> None:
    images = read_images(write(tmp_path / "small.npz"), SMALL)
    np.testing.assert_array_equal(images.of_classes(LATENTS), IMAGES)
    np.testing.assert_array_equal(images.of_classes([LATENTS[7], LATENTS[2]]), IMAGES[[7, 2]])


def test_pickled_metadata_beside_the_images_are_not_touched(tmp_path: Path) -> None:
    metadata = np.array({"author": "somebody"}, dtype=object)
    images = read_images(write(tmp_path / "small.npz", metadata=metadata), SMALL)
    np.testing.assert_array_equal(images.of_classes(LATENTS), IMAGES)


def test_large_files_are_read_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset, "_IMAGES_PER_PIECE", 5)
    images = read_images(write(tmp_path / "small.npz"), SMALL)
    np.testing.assert_array_equal(images.of_classes(LATENTS), IMAGES)


OTHER_ORDER = LATENTS.copy()
OTHER_ORDER[[3, 4]] = LATENTS[[4, 3]]
DARKER = IMAGES.copy()
DARKER[5] = 0


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"imgs": None}, "it holds no array 'imgs'"),
        ({"latents_classes": None}, "it holds no array 'latents_classes'"),
        ({"imgs": IMAGES[1:]}, "imgs has shape (11, 64, 64) and type uint8,"
         " it must have shape (12, 64, 64) and type uint8"),
        ({"imgs": IMAGES.astype(bool)}, "imgs has shape (12, 64, 64) and type bool,"
         " it must have shape (12, 64, 64) and type uint8"),
        ({"imgs": np.asfortranarray(IMAGES)}, "imgs has shape (12, 64, 64) and type uint8 in column order,"
         " it must have shape (12, 64, 64) and type uint8"),
        ({"latents_classes": LATENTS.astype(object)}, "latents_classes has shape (12, 6) and type object,"
         " it must have shape (12, 6) and type int64"),
        ({"latents_classes": OTHER_ORDER},
         "latents_classes is not in the data set's order, the last class varying fastest"),
        ({"imgs": 255 * IMAGES}, "imgs holds the value 255, it must hold 0 and 1 alone"),
        ({"imgs": DARKER}, f"imgs has {DARKER.sum()} lit pixels, it must have {IMAGES.sum()}"),
    ],
)  # fmt: skip
def test_a_file_that_is_another_is_refused_with_the_difference(
    tmp_path: Path, changes: dict[str, Any], difference: str
) -> None:
    path = write(tmp_path / "small.npz", **changes)
    assert refusal(path) == f"images is {str(path)!r}, which is not the dSprites data set: {difference}."


@pytest.mark.parametrize(
    ("member", "difference"),
    [
        (b"\x93NUMPY\x03\x00" + b"\0" * 100, "imgs is written in an unknown version of the .npy format"),
        ("short", "imgs ends early, at image 7 of 12"),
    ],
)
def test_an_array_that_is_cut_or_of_another_format_is_refused(
    tmp_path: Path, member: bytes | str, difference: str
) -> None:
    whole = io.BytesIO()
    npy.write_array(whole, IMAGES)
    cut = whole.getvalue()[: whole.tell() - 5 * 64 * 64 + 10]
    path = write(tmp_path / "small.npz", imgs=None)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("imgs.npy", cut if isinstance(member, str) else member)
    assert refusal(path) == f"images is {str(path)!r}, which is not the dSprites data set: {difference}."


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "images.npz"
    path.write_bytes(b"not an archive")
    assert refusal(path) == f"images is {str(path)!r}, which is not a sound .npz file: File is not a zip file."


def test_what_is_no_array_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "small.npz", imgs=None)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("imgs.npy", b"not an array")
    assert refusal(path).startswith(f"images is {str(path)!r}, which is not a sound .npz file: ")


@pytest.mark.parametrize("offset", [200, 2000, 5000])
def test_a_damaged_file_is_refused(tmp_path: Path, offset: int) -> None:
    path = write(tmp_path / "small.npz")
    damaged = bytearray(path.read_bytes())
    damaged[offset : offset + 8] = bytes(byte ^ 0xFF for byte in damaged[offset : offset + 8])
    path.write_bytes(damaged)
    assert refusal(path).startswith(f"images is {str(path)!r}, which is not ")


def test_a_file_of_another_size_is_refused_before_its_images_are_read(tmp_path: Path) -> None:
    path = write(tmp_path / "small.npz")
    assert refusal(path, DATA_SET) == (
        f"images is {str(path)!r}, which is not the dSprites data set: latents_classes has shape (12, 6) and"
        " type int64, it must have shape (737280, 6) and type int64."
    )


def test_an_absent_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "absent.npz"
    with pytest.raises(EnvError) as error:
        dSpritesEnv(images=path)
    assert str(error.value) == f"images is {str(path)!r}, which cannot be opened: No such file or directory."


def test_environments_that_live_together_share_a_file_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset, "read_images", lambda path: read_images(path, SMALL))
    path = write(tmp_path / "small.npz")
    first = open_images(path)
    assert open_images(str(path)) is first
    os.utime(path, ns=(1, 1))
    assert open_images(path) is not first


def test_a_file_nobody_uses_any_more_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []

    def reading(path: Path) -> ImageFile:
        read.append(path)
        return read_images(path, SMALL)

    monkeypatch.setattr(dataset, "read_images", reading)
    path = write(tmp_path / "small.npz")
    open_images(path)
    open_images(path)
    assert len(read) == 2


def write_data_set(path: Path) -> None:
    """A file like the data set's: the computed images, two of them with a lit pixel less."""
    n = 737_280
    latents = np.indices(DATA_SET.sizes).reshape(6, -1).T
    darkened = (0, 9000)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("latents_classes.npy", "w") as member:
            npy.write_array(member, np.ascontiguousarray(latents))
        with archive.open("imgs.npy", "w", force_zip64=True) as member:
            npy.write_array_header_1_0(member, {"descr": "|u1", "fortran_order": False, "shape": (n, 64, 64)})
            for start in range(0, n, 8192):
                images = render_classes(latents[start : start + 8192])
                for index in darkened:
                    if start <= index < start + len(images):
                        row, column = np.argwhere(images[index - start])[0]
                        images[index - start, row, column] = 0
                member.write(images.tobytes())


@pytest.mark.slow
def test_a_file_of_the_real_size_is_read_and_shown(tmp_path: Path) -> None:
    path = tmp_path / "dsprites.npz"
    write_data_set(path)
    env = dSpritesEnv(images=path)
    env.reset(options={"state": (2, 3, 21, 30, 4)})
    np.testing.assert_array_equal(env.image(), render_classes([(0, 2, 3, 21, 30, 4)])[0])
