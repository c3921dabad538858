# SPDX-License-Identifier: Apache-2.0 OR MIT
"""bench.py KIND INSTANCES FRAMES PICTURE [DEVICE]: draws moving boxes with Warp's OpenGL renderer.

KIND is warp (unchanged), grinterop (RegisteredBuffer) or streamed (StreamedBuffer for the
transforms). Saves the last frame as a PPM file, and prints the mean times in microseconds: of a
frame, of the CPU until the transforms are written, of a frame that writes none, and of reading the
picture into a Warp array.
"""

import math
import pathlib
import sys
import time
import types

import pyglet

pyglet.options["headless"] = True
# The renderer creates a label, which needs fonts, even where it shows no text.
pyglet.text = types.SimpleNamespace(Label=lambda *arguments, **keywords: None)
import warp  # noqa: E402
import warp.render  # noqa: E402
from pyglet import gl  # noqa: E402

WIDTH, HEIGHT, WARM = 1024, 768, 5


@warp.kernel
def move(bodies: warp.array(dtype=warp.transform), side: int, seconds: float):
    """Puts the bodies on a grid, with a wave that runs through it."""
    i = warp.tid()
    x = 40.0 * (float(i % side) / float(side) - 0.5)
    z = 40.0 * (float(i / side) / float(side) - 0.5)
    y = warp.sin(0.5 * x + 2.0 * seconds) * warp.cos(0.4 * z)
    turn = warp.quat_from_axis_angle(warp.vec3(0.0, 1.0, 0.0), seconds + 0.1 * x)
    bodies[i] = warp.transform(warp.vec3(x, y, z), turn)


def scene(instances, device):
    renderer = warp.render.OpenGLRenderer(
        "bench", screen_width=WIDTH, screen_height=HEIGHT, headless=True, show_info=False,
        camera_pos=(0.0, 16.0, 32.0), camera_front=(0.0, -0.5, -1.0), device=device,
    )  # fmt: skip
    size = 12.0 / math.isqrt(instances)
    vertices, indices = renderer._create_box_mesh((size, size, size))
    shape = renderer.register_shape("box", vertices, indices)
    for i in range(instances):
        name = f"box{i}"
        renderer.register_body(name)
        color = (i % 7 / 6, i % 5 / 4, i % 3 / 2)
        renderer.add_shape_instance(
            name, shape, i, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), color1=color, color2=color
        )
    renderer.allocate_shape_instances()
    return renderer


def draw(renderer, instances, frames, device, update=True):
    """Returns the seconds of a frame, and of the CPU until the transforms are written."""
    bodies = warp.zeros(instances, dtype=warp.transform, device=device)
    written = 0.0
    for frame in range(frames + WARM):
        if frame == WARM:
            gl.glFinish()
            began, written = time.perf_counter(), 0.0
        renderer.begin_frame(frame / 60)
        if update:
            inputs = [bodies, math.isqrt(instances - 1) + 1, frame / 60]
            warp.launch(move, dim=instances, inputs=inputs, device=device)
            before = time.perf_counter()
            renderer.update_body_transforms(bodies)
            written += time.perf_counter() - before
        renderer.end_frame()
    gl.glFinish()
    return (time.perf_counter() - began) / frames, written / frames


def read(renderer, frames, device):
    """Returns the picture, and the seconds to get it."""
    target = warp.zeros((HEIGHT, WIDTH, 3), dtype=warp.uint8, device=device)
    began = time.perf_counter()
    for _ in range(frames):
        renderer.get_pixels(target, split_up_tiles=False, use_uint8=True)
    pixels = target.numpy()
    return pixels, (time.perf_counter() - began) / frames


def main():
    kind, instances, frames = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    warp.config.quiet = True
    warp.init()
    device = warp.get_device(sys.argv[5] if len(sys.argv) > 5 else None)
    if device.is_cpu:
        # Pinned memory, which the original allocates, needs CUDA.
        device.pinned_allocator = device.default_allocator
    if kind != "warp":
        import registered_buffer

        registered_buffer.install()
    renderer = scene(instances, device)
    if kind == "streamed":
        renderer._instance_transform_cuda_buffer = registered_buffer.StreamedBuffer(
            renderer._instance_transform_gl_buffer.value, device
        )
    frame, written = draw(renderer, instances, frames, device)
    pixels, get = read(renderer, frames, device)
    pathlib.Path(sys.argv[4]).write_bytes(b"P6 %d %d 255\n" % (WIDTH, HEIGHT) + pixels.tobytes())
    alone, _ = draw(renderer, instances, frames, device, update=False)
    print(*(f"{1e6 * seconds:.0f}" for seconds in (frame, written, alone, get)))


main()
