# SPDX-License-Identifier: Apache-2.0 OR MIT
"""cuda_core_port.py draws the same with either import; other examples report what is missing."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def run(name, *arguments, **environment):
    return subprocess.run(
        [sys.executable, EXAMPLES / name, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )


def pictures(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.png")}


def test_a_program_of_cuda_core_draws_the_same_with_its_import_changed(tmp_path):
    drawn = []
    for module in ("cuda.core", "grinterop"):
        options = ("--frames", 2, "--size", "160x90", "--output", tmp_path / module)
        done = run("cuda_core_port.py", module, *options)
        assert done.returncode == 0, done.stderr
        drawn.append(pictures(tmp_path / module))
    assert len(drawn[0]) == 2
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0].values())) == 2


@pytest.mark.parametrize("arguments", (["--frames", "0"], ["--size", "12"], ["--size", "0x4"]))
def test_wrong_options_are_refused(arguments, tmp_path):
    done = run("cuda_core_port.py", "grinterop", *arguments, "--output", tmp_path)
    assert done.returncode == 2 and "usage" in done.stderr


@pytest.mark.parametrize(
    "name, module",
    (("torch_draw.py", "torch"), ("cupy_filter.py", "cupy"), ("video_wall.py", "cvcuda")),
)
def test_an_example_says_what_it_lacks(name, module, tmp_path):
    if importlib.util.find_spec(module):
        pytest.skip(f"{module} is installed")
    done = run(name, "--output", tmp_path)
    assert done.returncode == 1
    assert f"{name} needs " in done.stderr and module in done.stderr
