# SPDX-License-Identifier: Apache-2.0 OR MIT
"""cuda_core_port.py draws the same with either import, rgbd.py computes the points of the scene
that it drew, the examples for other libraries draw what they computed, and other examples report
what is missing.
"""

import importlib.util
import os
import shutil
from pathlib import Path

import grinterop
import numpy as np
import pytest

from conftest import run_python

pytestmark = pytest.mark.program

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def run(name, *arguments, before=()):
    return run_python(EXAMPLES / name, *arguments, before=before)


def pictures(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.png")}


def test_cuda_core_program_draws_the_same_with_grinterop(tmp_path):
    drawn = []
    for module in ("cuda.core", "grinterop"):
        options = ("--frames", 2, "--size", "160x90", "--output", tmp_path / module)
        done = run("cuda_core_port.py", module, *options)
        assert done.returncode == 0, done.stderr
        drawn.append(pictures(tmp_path / module))
    assert len(drawn[0]) == 2
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0].values())) == 2


def cloud(folder):
    """The points of rgbd.ply, and their colours from 0 to 1."""
    data = (folder / "rgbd.ply").read_bytes().split(b"end_header\n", 1)[1]
    vertices = np.frombuffer(data, [("point", "<f4", 3), ("color", "u1", 4)])
    return vertices["point"], vertices["color"] / 255


def errors_of(points, colors):
    """The distance of each point from its solid. The colour of a point selects the solid: the
    floor, the sphere or the cylinder.
    """
    red, green, blue = colors[:, 0], colors[:, 1], colors[:, 2]
    floor = points[colors[:, :3].max(1) < 1.2 * colors[:, :3].min(1)]
    sphere = points[blue > 1.5 * np.maximum(red, green)]
    cylinder = points[green > 1.5 * np.maximum(red, blue)]
    side = np.hypot(*(cylinder[:, :2] - (0.75, 0.70)).T) - 0.32
    return {
        "floor": abs(floor[:, 2]),
        "sphere": abs(np.linalg.norm(sphere - (0.55, -0.75, 0.40), axis=1) - 0.40),
        "cylinder": np.minimum(abs(side), abs(cylinder[:, 2] - 1.20)),
    }


# If a pixel has several samples, its depth is the depth of one sample, at most half a pixel away.
@pytest.mark.parametrize(
    "samples, sample, tolerance", ((0, 0, 0.003), (4, 0, 0.025), (4, 3, 0.025))
)
def test_rgbd_points_are_on_the_scene(samples, sample, tolerance, cuda, tmp_path):
    if not grinterop.cuda_is_software() and not importlib.util.find_spec("torch"):
        pytest.skip("torch is not installed")
    options = ("--frames", 3, "--size", "240x135", "--samples", samples, "--output", tmp_path)
    done = run("rgbd.py", *options, "--sample", sample)
    assert done.returncode == 0, done.stderr
    assert "software CUDA driver" not in done.stderr
    assert len(set(pictures(tmp_path).values())) == 3
    for name, errors in errors_of(*cloud(tmp_path)).items():
        assert len(errors) > 300, name
        assert np.quantile(errors, 0.9) < tolerance, name
        # Depth and colour of one sample are of one solid. The sides of the floor are 0.1 high.
        assert not sample or errors.max() < 0.11, name


def seen_by_skybox(example, width, height, angle):
    """The direction that each pixel of skybox.py sees, from the bottom row up."""
    rows, columns = np.indices((height, width), "f4")
    x = ((2 * columns + 1) / width - 1) * width / height
    y, z = (2 * rows + 1) / height - 1, -example.FOCAL
    sine, cosine = np.sin(angle), np.cos(angle)
    rays = np.stack((cosine * x + sine * z, y, cosine * z - sine * x), -1)
    return rays / np.linalg.norm(rays, axis=-1, keepdims=True)


# A pixel is between texels, whose floats have 5 or 6 bits after the leading one.
def test_skybox_draws_the_sky_in_all_directions(cuda, tmp_path):
    av = pytest.importorskip("av")
    example = pytest.importorskip("skybox")
    options = ("--frames", 2, "--size", "192x54", "--side", 128, "--output", tmp_path)
    done = run("skybox.py", *options)
    assert done.returncode == 0, done.stderr
    with av.open(str(tmp_path / "skybox-0001.png")) as film:
        drawn = next(film.decode(video=0)).to_ndarray(format="rgb24")[::-1]
    for angle, right in ((1 / 100, True), (0.5, False)):
        colors = example.sky(np, seen_by_skybox(example, 192, 54, angle), 0.05 + 1 / 50)
        wanted = 255 * (1 - np.exp(-example.EXPOSURE * colors))
        assert (np.quantile(abs(drawn - wanted), 0.97) < 4) == right


# ---- Other libraries -----------------------------------------------------------------------------


@pytest.fixture
def draw(cuda, tmp_path):
    """Draws two frames. Returns the module of the example and the last picture, from the bottom up.
    """
    if not (grinterop.cuda_is_software() or any(map(importlib.util.find_spec, ("cupy", "torch")))):
        pytest.skip("neither cupy nor torch is installed")

    def function(name, width, height, before=(), options=()):
        module = pytest.importorskip(name)
        size = ("--size", f"{width}x{height}", *options)
        done = run(f"{name}.py", "--frames", 2, *size, "--output", tmp_path, before=before)
        assert done.returncode == 0, done.stderr
        assert ("OpenGL ES" in done.stdout) == ("--es" in options)
        av = pytest.importorskip("av")
        with av.open(str(next(tmp_path.glob("*.png")))) as film:
            return module, next(film.decode(video=0)).to_ndarray(format="rgb24")[::-1]

    return function


def wrong_pixels(picture, points):
    """The share of lit pixels where there is no point, and of dark pixels with a point."""
    height, width, _ = picture.shape
    places = np.floor((points[:, 1::-1] + 1) / 2 * (height, width)).astype(int)
    row, column = places[((places >= 0) & (places < (height, width))).all(1)].T
    expected = np.zeros((height, width), bool)
    expected[row, column] = True
    return (expected != picture.any(2)).sum() / expected.sum()


@pytest.mark.parametrize("options", [(), ("--es",)])
def test_moderngl_draws_the_stars_that_were_computed(draw, options):
    example, picture = draw("moderngl_vertices", 960, 540, options=options)
    stars = np.empty((example.COUNT, 4), "f4")
    for time, right in ((1 / 24, True), (0, False)):
        example.move(np, stars, example.SEEDS, time)
        assert (wrong_pixels(picture, stars) < 0.03) == right


def test_wgpu_draws_the_points_that_were_computed(draw):
    example, picture = draw("wgpu_pinned", 1920, 1080)
    for time, right in ((1 / 24, True), (0, False)):
        points = example.knot(np, example.SEEDS, time)
        assert (wrong_pixels(picture, points) < 0.03) == right


def test_pyglet_shows_the_texture_that_was_computed(draw):
    example, picture = draw("pyglet_texture", 480, 270)
    colors = example.julia(np, example.points(480, 270), 2.5 + 1 / 50)
    assert np.quantile(abs(picture - 255 * colors[:, :, :3]), 0.99) < 1
    assert picture.std() > 40


IN_FRONT = """
import functools, runpy, sys
import pyglet

pyglet.options.headless = True
config = pyglet.gl.Config(red_size=8, green_size=8, blue_size=8)
window, seen = pyglet.window.Window, []
begin, flip = window.__init__, window.flip


def look(shown):
    drawn = pyglet.image.get_buffer_manager().get_color_buffer().get_image_data()
    seen.append(sorted(set(drawn.get_data("RGB", 3 * shown.width))))
    flip(shown)
    if len(seen) == 3:
        pyglet.app.exit()


window.__init__ = functools.partialmethod(begin, config=config)
window.flip = look
runpy.run_path(sys.argv[1], run_name="__main__")
print(seen)
"""


def test_window_shows_the_tensor(cuda, tmp_path):
    pytest.importorskip("pyglet")
    (tmp_path / "front.py").write_text(IN_FRONT)
    done = run_python(tmp_path / "front.py", EXAMPLES / "show_tensor.py")
    assert done.stdout == "[[1], [2], [3]]\n", done.stderr


def test_glfw_window_shows_the_edges_of_what_was_drawn(draw):
    xvfb = ("xvfb-run", "-a") if not os.environ.get("DISPLAY") else ()
    if xvfb and not shutil.which("xvfb-run"):
        pytest.skip("there is no display, and no xvfb-run (Debian: xvfb)")
    example, picture = draw("glfw_framebuffer", 480, 270, xvfb)
    drawn, edges = picture[:, :240] / np.float32(255), picture[1:, 241:]
    assert len(np.unique(picture[:, :240].reshape(-1, 3), axis=0)) > 1000
    assert abs(255 * example.edges(drawn).clip(0, 1) - edges).max() <= 1


ENCODER = """
class Encoder:
    def Encode(self, frame):
        return b"".join(plane.tobytes(stream=1) for plane in frame.cuda())

    def EndEncode(self):
        return b""


def CreateEncoder(*arguments, **options):
    return Encoder()
"""


def test_encoder_gets_what_opengl_drew(tmp_path, monkeypatch):
    """An encoder in Python gets the planes: the sky is grey, and the scene turns."""
    (tmp_path / "PyNvVideoCodec.py").write_text(ENCODER)
    monkeypatch.syspath_prepend(tmp_path)
    done = run("encode.py", "--frames", 5, "--size", "96x64", "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    film = np.fromfile(tmp_path / "encode.h264", "u1").reshape(5, 96, 96)
    assert (film[:, 0, 0] == 27).all() and (abs(film[:, 64, :2].astype(int) - 128) <= 1).all()
    assert film[:, 30:60].std() > 20 and (film[0] != film[4]).any()


# ---- Wrong use -----------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", (["--frames", "0"], ["--size", "12"], ["--size", "0x4"]))
def test_wrong_options_are_refused(arguments, tmp_path):
    done = run("cuda_core_port.py", "grinterop", *arguments, "--output", tmp_path)
    assert done.returncode == 2 and "usage" in done.stderr


def test_example_reports_missing_packages(tmp_path):
    if importlib.util.find_spec("cvcuda"):
        pytest.skip("cvcuda is installed")
    done = run("video_wall.py", "--output", tmp_path)
    assert done.returncode == 1
    assert "video_wall.py needs " in done.stderr and "cvcuda" in done.stderr
