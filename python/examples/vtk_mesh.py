#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""VTK draws a mesh. CUDA moves its points in the vertex buffer of the mapper, without a copy."""

import grinterop
import output
import vtk

SIDE = 400
POINTS = (SIDE + 1) ** 2


def wave(xp, x, y, time):
    radius = (x * x + y * y) ** 0.5
    return 0.12 * xp.cos(40 * radius - 4 * time) * xp.exp(-4 * radius)


def plane():
    """A square of SIDE x SIDE quads with the centre 0, without normals."""
    source = vtk.vtkPlaneSource(x_resolution=SIDE, y_resolution=SIDE)
    source.Update()
    source.GetOutput().GetPointData().SetNormals(None)
    return source.GetOutput()


def show(mesh, width, height):
    """A window with the mesh, and the mapper."""
    mapper, renderer = vtk.vtkPolyDataMapper(input_data=mesh), vtk.vtkRenderer()
    mapper.SetVBOShiftScaleMethod(0)  # the vertex buffer has the points as they are
    actor = vtk.vtkActor(mapper=mapper)
    actor.GetProperty().SetColor(0.25, 0.6, 0.75)
    actor.GetProperty().SetSpecular(0.6)
    renderer.AddActor(actor)
    renderer.GetActiveCamera().SetPosition(0, -1.1, 0.8)
    renderer.GetActiveCamera().SetClippingRange(0.1, 5)
    window = vtk.vtkRenderWindow(off_screen_rendering=True, size=(width, height))
    window.AddRenderer(renderer)
    window.Render()
    return window, mapper


def main():
    chosen = output.parse(output.options(__doc__, 24, "vtk"))
    xp, stream = output.arrays()
    window, mapper = show(plane(), chosen.width, chosen.height)
    name = mapper.GetVBOs().GetVBO("vertexMC").GetHandle()
    resource = grinterop.GraphicsResource.from_gl_buffer(name)
    for frame in range(chosen.frames):
        with resource.map(stream=stream) as buffer:
            points = xp.from_dlpack(buffer.tensor((POINTS, 3), "float32"))
            points[:, 2] = wave(xp, points[:, 0], points[:, 1], frame / 24)
            del points
        window.Render()
    picture = vtk.vtkWindowToImageFilter(input=window)
    path = str(chosen.output / "vtk.png")
    vtk.vtkPNGWriter(input_connection=picture.output_port, file_name=path).Write()


if __name__ == "__main__":
    main()
