# SPDX-License-Identifier: Apache-2.0 OR MIT
"""bench_newton.py KIND INSTANCES FRAMES PICTURE DEVICE: draws moving boxes and points with Newton's
OpenGL viewer, which uses warp.RegisteredGLBuffer.

KIND is warp (unchanged) or grinterop (RegisteredBuffer). Saves the last frame as a PPM file. Prints
the mean times in microseconds of a frame and of get_frame(), and the number of registered buffers.
"""

import math
import pathlib
import sys
import time

import pyglet

pyglet.options["headless"] = True
import newton  # noqa: E402
import newton.viewer  # noqa: E402
import numpy  # noqa: E402
import registered_buffer  # noqa: E402
import warp  # noqa: E402

WIDTH, HEIGHT, WARM = 1024, 768, 5


def count_buffers():
    """Returns a list that gets an element for each buffer that is registered from now on."""
    made = []

    class Counted(warp.RegisteredGLBuffer):
        def __init__(self, *arguments, **keywords):
            super().__init__(*arguments, **keywords)
            made.append(self.device)

    warp.RegisteredGLBuffer = Counted
    return made


def draw(viewer, instances, frames):
    """Returns the seconds of a frame."""
    side = math.isqrt(instances)
    boxes = numpy.zeros((side * side, 7), numpy.float32)
    boxes[:, 0], boxes[:, 1] = (numpy.indices((side, side)).reshape(2, -1) / side - 0.5) * 8
    boxes[:, 6] = 1
    colors = warp.array(0.5 + boxes[:, :3] / 8, dtype=warp.vec3)
    materials = warp.array([[0.5, 0.3, 0, 0]] * len(boxes), dtype=warp.vec4)
    size = (2 / side, 2 / side, 1 / side)
    for frame in range(frames + WARM):
        if frame == WARM:
            viewer.get_frame().numpy()
            began = time.perf_counter()
        boxes[:, 2] = 1 + 0.5 * numpy.sin(boxes[:, 0] + frame / 10)
        transforms = warp.array(boxes, dtype=warp.transform)
        points = warp.array(boxes[:, :3] * 0.9, dtype=warp.vec3)
        viewer.begin_frame(frame / 60)
        viewer.log_shapes("/box", newton.GeoType.BOX, size, transforms, colors, materials)
        viewer.log_points("/point", points, 0.02)
        viewer.end_frame()
    viewer.get_frame().numpy()
    return (time.perf_counter() - began) / frames


def main():
    kind, instances, frames = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    warp.config.quiet = True
    warp.set_device(sys.argv[5])
    if kind != "warp":
        registered_buffer.install()
    made = count_buffers()
    interop = newton.viewer.ViewerGL.CudaInterop.ALL
    viewer = newton.viewer.ViewerGL(WIDTH, HEIGHT, headless=True, enable_cuda_interop=interop)
    frame = draw(viewer, instances, frames)
    began = time.perf_counter()
    for _ in range(frames):
        pixels = viewer.get_frame()
    pixels = pixels.numpy()
    get = (time.perf_counter() - began) / frames
    pathlib.Path(sys.argv[4]).write_bytes(b"P6 %d %d 255\n" % (WIDTH, HEIGHT) + pixels.tobytes())
    print(f"{1e6 * frame:.0f} {1e6 * get:.0f} {len(made)}")


main()
