# SPDX-License-Identifier: Apache-2.0 OR MIT
"""python/examples/vtk_mesh.py draws what VTK draws if VTK has the points itself."""

import os
import subprocess
import sys

import numpy as np
import vtk
from vtk.util.numpy_support import vtk_to_numpy

import vtk_mesh


def pixels(source):
    source.Update()
    return vtk_to_numpy(source.GetOutput().GetPointData().GetScalars())[:, :3]


def drawn_by_vtk(time):
    """The plane, or the mesh at that time."""
    mesh = vtk_mesh.plane()
    if time is not None:
        points = vtk_to_numpy(mesh.GetPoints().GetData())
        points[:, 2] = vtk_mesh.wave(np, points[:, 0], points[:, 1], time)
    window, _ = vtk_mesh.show(mesh, 480, 270)
    return pixels(vtk.vtkWindowToImageFilter(input=window))


def test_vtk_draws_the_points_that_were_computed(tmp_path):
    options = ("--frames", "2", "--size", "480x270", "--output", tmp_path)
    environment = os.environ | {"GR_CUDA_DRIVER": "libcuda.so.1"}
    subprocess.run([sys.executable, vtk_mesh.__file__, *options], check=True, env=environment)
    picture = pixels(vtk.vtkPNGReader(file_name=str(tmp_path / "vtk.png")))
    assert np.array_equal(picture, drawn_by_vtk(1 / 24))
    assert (picture != drawn_by_vtk(None)).mean() > 0.2
