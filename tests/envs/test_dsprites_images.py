"""Computed images are the data set's, pixel for pixel."""

from __future__ import annotations

import hashlib
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from btai.envs.dsprites import render, render_classes
from btai.envs.dsprites.raster import rasterise
from btai.errors import EnvError

TRUTH = Path(__file__).resolve().parents[3] / "shared" / "dsprites" / "truth"

Images = NDArray[np.uint8]
Latents = list[tuple[int, ...]]

# True images that the data set's authors published one by one: (shape, scale, orientation, posX, posY).
SCATTERED = [
    (0, 3, 33, 17, 23), (1, 1, 13, 21, 29), (2, 0, 29, 7, 9), (1, 0, 35, 15, 15), (1, 4, 30, 30, 4),
    (2, 0, 14, 28, 17), (0, 5, 16, 18, 22), (0, 1, 5, 7, 20), (0, 0, 12, 1, 30), (0, 5, 13, 12, 31),
    (1, 3, 32, 19, 8), (2, 3, 25, 29, 8), (1, 3, 34, 5, 2), (2, 2, 30, 26, 30), (0, 3, 18, 30, 16),
    (2, 4, 29, 0, 23), (0, 0, 25, 6, 9), (1, 3, 12, 1, 28), (2, 1, 31, 31, 4), (0, 3, 36, 15, 7),
]  # fmt: skip

SHEETS: dict[str, Latents] = {
    "squares turning": [(0, 0, 5, o, 0, 0) for o in range(40)],
    "ellipses turning": [(0, 1, 5, o, 0, 0) for o in range(40)],
    "hearts turning": [(0, 2, 5, o, 0, 0) for o in range(40)],
    "all shapes growing": [(0, s, k, 0, 0, 0) for s in range(3) for k in range(6)],
    "hearts moving down": [(0, 2, 5, 0, x, y) for x in (0, 31) for y in range(32)],
    "hearts moving right": [(0, 2, 5, 0, x, y) for y in (0, 31) for x in range(32)],
    "scattered": [(0, *latents) for latents in SCATTERED],
}

# Of the true images of each sheet, one after the other, a byte per pixel.
DIGESTS = {
    "squares turning": "ac328f83a1db967530485c3185b79d153a0ccbf9765c7b0e6fc8ff222c3e86d2",
    "ellipses turning": "7b08f3d4f4c9481b6e95a78d732548e09d7f558fa1d65f8908e94ce1ac3ba1ea",
    "hearts turning": "9a175a6db7a447318acf9f9550a0dfef9dd9bb98d527a303aacd11f4aa88364f",
    "all shapes growing": "c1ad76d18c5b2cbb4a14b18a7dfcdc1017ef18d3905bb12cf418a0f73c166ad8",
    "hearts moving down": "53a98a29e7fbe07b4904d22fe2f03110cd4f0c8bf80abfb723d037ff48c2dccb",
    "hearts moving right": "0d385fff2863200f3f4dc2ea31670c53052f953b2f64a42ac156fbbcf1f99d03",
    "scattered": "faf990c6e3eb9d75549fe823120a8be6a73297d6ec9e805288d667f87e3cf7c3",
}


def digest(images: Images) -> str:
    return hashlib.sha256(np.ascontiguousarray(images, dtype=np.uint8).tobytes()).hexdigest()


def true_images(name: str) -> tuple[NDArray[np.int64], Images]:
    """Latent classes [n, 6] and images [n, 64, 64], or skip the calling test where they are absent."""
    if not TRUTH.is_dir():
        pytest.skip(f"the true images are not here: {TRUTH} is absent")
    with np.load(TRUTH / f"{name}.npz", allow_pickle=False) as file:
        return file["latents_classes"], file["imgs"]


@pytest.mark.parametrize(("name", "n_images"), [("gif", 258), ("notebook", 43)])
def test_every_true_image_is_reproduced_without_a_wrong_pixel(name: str, n_images: int) -> None:
    latents, images = true_images(name)
    assert len(images) == n_images
    assert np.count_nonzero(render_classes(latents) != images) == 0


@pytest.mark.parametrize("sheet", SHEETS)
def test_a_sheet_of_images_has_the_digest_of_the_true_ones(sheet: str) -> None:
    assert digest(render_classes(SHEETS[sheet])) == DIGESTS[sheet]


@pytest.mark.parametrize("sheet", SHEETS)
def test_the_stored_digest_is_that_of_true_images(sheet: str) -> None:
    known = {
        tuple(latents.tolist()): image
        for name in ("gif", "notebook")
        for latents, image in zip(*true_images(name), strict=True)
    }
    assert digest(np.stack([known[latents] for latents in SHEETS[sheet]])) == DIGESTS[sheet]


@pytest.mark.slow
def test_the_whole_data_set_has_its_number_of_lit_pixels() -> None:
    """The published images have 128,328,862 lit pixels: two of 737,280 computed images have one too many."""
    rest = np.indices((40, 32, 32)).reshape(3, -1).T
    lit = 0
    for shape, scale in np.ndindex(3, 6):
        first = np.broadcast_to([0, shape, scale], (len(rest), 3))
        lit += int(render_classes(np.hstack([first, rest])).sum(dtype=np.int64))
    assert lit == 128_328_864


# An oracle in plain Python: exact fractions, one pixel at a time.


def outline(shape: int) -> list[tuple[float, float]]:
    if shape == 0:
        return [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]
    n = {1: 100, 2: 150}[shape]
    turn = [2 * math.pi * i / n for i in range(n)]
    if shape == 1:
        return [(0.665 * math.cos(u), 0.5 / 1.33 * math.sin(u)) for u in turn]
    return [
        (
            math.sin(u) ** 3 / 2,
            -((13 * math.cos(u) - 5 * math.cos(2 * u) - 2 * math.cos(3 * u) - math.cos(4 * u)) / 29 + 0.075),
        )
        for u in turn
    ]


def image_by_fractions(shape: int, scale: float, angle: float, x: float, y: float) -> list[list[int]]:
    size, c, s = 19.2 * scale, math.cos(angle), math.sin(angle)
    corners = [
        (
            Fraction(round(256 * (16 + 32 * x + size * (X * c + Y * s))), 256),
            Fraction(round(256 * (16 + 32 * y + size * (Y * c - X * s))), 256),
        )
        for X, Y in outline(shape)
    ]
    edges = list(zip(corners, corners[1:] + corners[:1], strict=True))
    image = []
    for row in range(64):
        middle = row + Fraction(1, 2)
        crossings = [
            x0 + (x1 - x0) * (middle - y0) / (y1 - y0)
            for (x0, y0), (x1, y1) in edges
            if min(y0, y1) < middle <= max(y0, y1)
        ]
        image.append([sum(at <= column + Fraction(1, 2) for at in crossings) % 2 for column in range(64)])
    return image


@pytest.mark.parametrize("shape", [0, 1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_any_real_latents_give_the_image_of_an_exact_rasteriser(shape: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scale, angle, x, y = rng.uniform([0.05, 0, 0, 0], [1, 2 * math.pi, 1, 1]).tolist()
    assert render(shape, scale, angle, x, y).tolist() == image_by_fractions(shape, scale, angle, x, y)


@pytest.mark.parametrize("shape", [0, 1, 2])
@pytest.mark.parametrize(("x", "y"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_the_largest_shapes_stay_inside_the_image_in_every_corner(shape: int, x: int, y: int) -> None:
    frames = np.stack([render(shape, 1, angle, x, y) for angle in np.linspace(0, 2 * math.pi, 60)])
    assert frames.any(axis=(1, 2)).all()
    assert not frames[:, [0, -1], :].any()
    assert not frames[:, :, [0, -1]].any()


def test_centres_on_left_and_bottom_edges_are_lit_and_those_on_right_and_top_edges_are_not() -> None:
    # A square from the centre of pixel (1, 1) to that of (4, 4), and its mirror image, drawn the other way round.
    left, top, right, bottom = (256 * at + 128 for at in (1, 1, 4, 4))
    columns = np.array([[left, right, right, left], [left, left, right, right]])
    rows = np.array([[top, top, bottom, bottom], [top, bottom, bottom, top]])
    expected = np.zeros((64, 64), dtype=np.uint8)
    expected[2:5, 1:4] = 1
    for image in rasterise(columns, rows):
        np.testing.assert_array_equal(image, expected)


def test_what_an_outline_encloses_twice_is_not_lit() -> None:
    # Once round the outer square, then in the same direction round the inner one.
    outer, inner = (8, 40), (16, 32)
    columns = 256 * np.array([[a for low, high in (outer, inner) for a in (low, high, high, low, low)]])
    rows = 256 * np.array([[a for low, high in (outer, inner) for a in (low, low, high, high, low)]])
    expected = np.zeros((64, 64), dtype=np.uint8)
    expected[8:40, 8:40] = 1
    expected[16:32, 16:32] = 0
    np.testing.assert_array_equal(rasterise(columns, rows)[0], expected)


def test_a_polygon_without_area_lights_nothing() -> None:
    assert not rasterise(np.full((1, 4), 1000), np.full((1, 4), 1000)).any()


def test_row_0_is_at_the_top_and_column_0_at_the_left() -> None:
    lit_rows, lit_columns = np.nonzero(render("square", 0.5, 0, x=0, y=1))
    assert (lit_columns.min(), lit_columns.max()) == (11, 20)  # 16 -+ 4.8, where centres are inside
    assert (lit_rows.min(), lit_rows.max()) == (43, 52)  # 48 -+ 4.8


def test_classes_and_the_values_they_stand_for_give_the_same_image() -> None:
    values = render("heart", 0.7, 2 * math.pi * 11 / 39, 20 / 31, 3 / 31)
    np.testing.assert_array_equal(render_classes([(0, 2, 2, 11, 20, 3)])[0], values)


def test_images_are_zeros_and_ones_in_the_order_asked_for() -> None:
    latents = [(0, 2, 5, 3, 1, 1), (0, 0, 0, 0, 0, 0), (0, 1, 2, 9, 30, 8), (0, 2, 1, 3, 7, 7)]
    images = render_classes(latents)
    assert images.shape == (4, 64, 64)
    assert images.dtype == np.uint8
    assert np.unique(images).tolist() == [0, 1]
    for image, row in zip(images, latents, strict=True):
        np.testing.assert_array_equal(image, render_classes([row])[0])


def test_no_latents_give_no_images() -> None:
    assert render_classes(np.empty((0, 6), dtype=int)).shape == (0, 64, 64)


@pytest.mark.parametrize(("number", "name"), list(enumerate(["square", "ellipse", "heart"])))
def test_a_shape_has_a_number_and_a_name(number: int, name: str) -> None:
    np.testing.assert_array_equal(render(number, 1, 0.3, 0.5, 0.5), render(name, 1, 0.3, 0.5, 0.5))


def test_a_full_turn_changes_nothing() -> None:
    start = render_classes([(0, s, 5, 0, 3, 30) for s in range(3)])
    np.testing.assert_array_equal(render_classes([(0, s, 5, 39, 3, 30) for s in range(3)]), start)
    np.testing.assert_array_equal(render(2, 1, 2 * math.pi, 3 / 31, 30 / 31), start[2])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"shape": "circle"}, "shape is 'circle': it must be 0, 1, 2 or one of 'square', 'ellipse', 'heart'."),
        ({"shape": 3}, "shape is 3: it must be 0, 1, 2 or one of 'square', 'ellipse', 'heart'."),
        ({"scale": 0.0}, "scale is 0.0: it must be above 0 and at most 1."),
        ({"scale": 1.1}, "scale is 1.1: it must be above 0 and at most 1."),
        ({"angle": math.inf}, "angle is inf: it must be a finite number of radians."),
        ({"x": -0.1}, "x is -0.1: it must be from 0 to 1."),
        ({"y": math.nan}, "y is nan: it must be from 0 to 1."),
    ],
)
def test_latents_that_are_none_are_refused_by_name(changed: dict[str, object], message: str) -> None:
    latents: dict[str, object] = {"shape": 0, "scale": 1, "angle": 0, "x": 0, "y": 0}
    with pytest.raises(EnvError) as error:
        render(**(latents | changed))  # type: ignore[arg-type]
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("latents", "message"),
    [
        ([(0, 0, 0, 0, 0, 0), (0, 0, 0, 40, 0, 0)],
         "latents[1, 3] is 40: the class of orientation must be from 0 to 39."),
        ([(0, 0, 0, 0, -1, 0)], "latents[0, 4] is -1: the class of posX must be from 0 to 31."),
        ([(0, 0, 0, 0, 0)], "latents has shape (1, 5) and type int64: it must hold whole numbers in rows of 6,"
         " the classes of color, shape, scale, orientation, posX, posY."),
        ([(0, 0, 0.5, 0, 0, 0)], "latents has shape (1, 6) and type float64: it must hold whole numbers in rows"
         " of 6, the classes of color, shape, scale, orientation, posX, posY."),
    ],
)  # fmt: skip
def test_classes_that_are_none_are_refused_by_place(latents: object, message: str) -> None:
    with pytest.raises(EnvError) as error:
        render_classes(latents)  # type: ignore[arg-type]
    assert str(error.value) == message
