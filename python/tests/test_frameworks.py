# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs frameworks.py with the installed frameworks: every byte must arrive by every way that is
expected to work.
"""

import json
import os
from pathlib import Path

import pytest

from conftest import run_python

pytestmark = pytest.mark.program

MATRIX = Path(__file__).resolve().parents[1] / "frameworks.py"
NAMES = ("NumPy", "CUDA Python", "Numba")


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """The results of one run of the matrix: a dict of its rows by framework."""
    out = tmp_path_factory.mktemp("matrix")
    run = run_python(MATRIX, "--out", out, "--only", ",".join(NAMES))
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
    document = (out / "frameworks.md").read_text()
    assert max(len(line) for line in document.splitlines() if line[:1] != "|") <= 100
    return {row["name"]: row for row in json.loads((out / "frameworks.json").read_text())}


def copies(row, place, direction):
    """The number of copies of the working way with the fewest copies, or None."""
    ways = row["cells"][f"{place} {direction}"]
    return min((way["copies"] for way in ways if way["result"] == "works"), default=None)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("direction", ("out", "in"))
@pytest.mark.parametrize("api", ("OpenGL", "Vulkan"))
def test_buffers_need_no_copy(rows, name, direction, api):
    if name == "NumPy" and not rows[name]["machine"]["software"]:
        pytest.skip("NumPy has no arrays on a GPU")
    assert copies(rows[name], f"{api} buffer", direction) == 0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("direction", ("out", "in"))
@pytest.mark.parametrize("api", ("OpenGL", "Vulkan"))
def test_images_need_one_copy_at_most(rows, name, direction, api):
    assert copies(rows[name], f"{api} image", direction) in (0, 1)


def run_child(name, folder):
    """Runs the process of one framework, with `folder` first in the module path. Returns its
    output.
    """
    run = run_python(MATRIX, "--child", name, PYTHONPATH=with_first(folder))
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_missing_framework_is_not_run(tmp_path):
    (tmp_path / "warp.py").write_text("raise ImportError('it is not there')\n")
    assert run_child("Warp", tmp_path)[-1] == {"absent": "ImportError: it is not there"}


def test_crashing_framework_ends_only_its_row(tmp_path):
    """A killed process becomes a row with its reason, and the exit status is 1."""
    (tmp_path / "jax.py").write_text("import os\nos.abort()\n")
    path = with_first(tmp_path)
    run = run_python(MATRIX, "--out", tmp_path, "--only", "JAX,NumPy", PYTHONPATH=path)
    assert run.returncode == 1
    rows = {row["name"]: row for row in json.loads((tmp_path / "frameworks.json").read_text())}
    assert "signal 6" in rows["JAX"]["trouble"][0]
    assert not rows["NumPy"]["trouble"]


def with_first(folder):
    return os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
