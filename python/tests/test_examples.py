# SPDX-License-Identifier: Apache-2.0 OR MIT
"""cuda_core_port.py draws the same with either import, rgbd.py computes the points of the scene
that it drew, and other examples report what is missing.
"""

import importlib.util
from pathlib import Path

import grinterop
import numpy as np
import pytest

from conftest import run_python

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def run(name, *arguments):
    return run_python(EXAMPLES / name, *arguments)


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
@pytest.mark.parametrize("samples, tolerance", ((0, 0.003), (4, 0.025)))
def test_rgbd_points_are_on_the_scene(samples, tolerance, cuda, tmp_path):
    if not grinterop.is_software() and not importlib.util.find_spec("torch"):
        pytest.skip("torch is not installed")
    options = ("--frames", 3, "--size", "240x135", "--samples", samples, "--output", tmp_path)
    done = run("rgbd.py", *options)
    assert done.returncode == 0, done.stderr
    assert "software CUDA driver" not in done.stderr
    assert len(set(pictures(tmp_path).values())) == 3
    for name, errors in errors_of(*cloud(tmp_path)).items():
        assert len(errors) > 300, name
        assert np.quantile(errors, 0.9) < tolerance, name


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
