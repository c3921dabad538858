#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""wgpu draws points that CUDA computes, through pinned memory: wgpu-py can't share its memory."""

import grinterop
import numpy
import output
import wgpu.utils

COUNT = 1 << 18
SEEDS = numpy.random.default_rng(1).uniform(0, 2 * numpy.pi, (COUNT, 2)).astype("float32")
SHADER = """
    @vertex fn show(@location(0) at: vec3f) -> @builtin(position) vec4f { return vec4f(at, 1); }
    @fragment fn paint(@builtin(position) place: vec4f) -> @location(0) vec4f {
        return vec4f((0.6 + 0.4 * cos(place.x / 90 + vec3f(0, 2, 4))) * (0.4 - 0.35 * place.z), 1);
    }"""


def knot(xp, seeds, time):
    """x, y and the depth of points on a knotted tube."""
    along, turn, around = seeds[:, 0], 2 * seeds[:, 0] + time, seeds[:, 1] + time
    radius = 0.6 + 0.2 * xp.cos(3 * along) + 0.15 * xp.cos(around)
    depth = 0.5 + 0.2 * xp.sin(3 * along) + 0.15 * xp.sin(around)
    return xp.stack((0.56 * radius * xp.cos(turn), radius * xp.sin(turn), depth), -1)


def main():
    chosen = output.parse(output.options(__doc__, 24, "wgpu"))
    xp, stream = output.arrays()
    gpu, size = wgpu.utils.get_default_device(), (chosen.width, chosen.height, 1)
    vertices = gpu.create_buffer(size=12 * COUNT, usage="VERTEX|COPY_DST")
    image = gpu.create_texture(size=size, format="rgba8unorm", usage="RENDER_ATTACHMENT|COPY_SRC")
    shader = gpu.create_shader_module(code=SHADER)
    layout = [{"format": "float32x3", "offset": 0, "shader_location": 0}]
    target = {"view": image.create_view(), "load_op": "clear", "store_op": "store"}
    target["clear_value"] = (0, 0, 0, 1)
    blend = {part: {"src_factor": "one", "dst_factor": "one"} for part in ("color", "alpha")}
    pipeline = gpu.create_render_pipeline(
        layout="auto", primitive={"topology": "point-list"},
        vertex={"module": shader, "buffers": [{"array_stride": 12, "attributes": layout}]},
        fragment={"module": shader, "targets": [{"format": "rgba8unorm", "blend": blend}]},
    )
    seeds = xp.from_dlpack(grinterop.Tensor.from_dlpack(SEEDS).clone(stream=stream))
    points = grinterop.Tensor.create((COUNT, 3), "float32", memory="pinned")
    for frame in range(chosen.frames):
        points.copy_from(knot(xp, seeds, frame / 24), stream=stream)
        gpu.queue.write_buffer(vertices, 0, points)  # waits for the copy, then copies again
        commands = gpu.create_command_encoder()
        drawing = commands.begin_render_pass(color_attachments=[target])
        drawing.set_pipeline(pipeline)
        drawing.set_vertex_buffer(0, vertices)
        drawing.draw(COUNT)
        drawing.end()
        gpu.queue.submit([commands.finish()])
    read = gpu.queue.read_texture({"texture": image}, {"bytes_per_row": 4 * size[0]}, size)
    output.write_png(chosen.output / "wgpu.png", *size[:2], bytes(read), bottom_up=False)


if __name__ == "__main__":
    main()
