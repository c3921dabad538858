#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""moderngl draws stars. CUDA moves them in the vertex buffer, without a copy."""

import math

import grinterop
import moderngl
import numpy
import output

COUNT = 1 << 18
SEEDS = numpy.random.default_rng(1).normal(size=(COUNT, 3)).astype("float32")
VERTEX = """
    in vec4 star;
    out vec3 tint;
    void main()
    {
        gl_Position = vec4(star.xy, 0, 1);
        gl_PointSize = 1.0; // OpenGL ES has no default
        tint = mix(vec3(1.0, 0.7, 0.4), vec3(0.3, 0.5, 1.0), star.z) * star.w;
    }"""
FRAGMENT = "in vec3 tint; out vec4 color; void main() { color = vec4(tint, 1); }"
VERSIONS = "#version 330\n", "#version 310 es\nprecision highp float;\n"


def move(xp, stars, seeds, time):
    """Writes x, y, the radius and the brightness of each star of a galaxy with two arms."""
    radius = 0.4 * abs(seeds[:, 0])
    angle = math.pi * (seeds[:, 1] > 0) - 5 * radius + 0.4 * seeds[:, 2] - time
    stars[:, 0] = radius * xp.cos(angle) + 0.02 * seeds[:, 1]
    stars[:, 1] = radius * xp.sin(angle) + 0.02 * seeds[:, 2]
    stars[:, 2] = radius
    stars[:, 3] = 0.5


def main():
    parser = output.options(__doc__, 24, "moderngl")
    parser.add_argument("--es", action="store_true", help="by OpenGL ES")
    chosen = output.parse(parser)
    xp, stream = output.arrays()
    context = grinterop.EglContext(0, es=chosen.es)  # or the context of your window
    gl = moderngl.create_context(require=310)
    print(context.describe())
    vertices = gl.buffer(reserve=16 * COUNT)
    shaders = [VERSIONS[chosen.es] + source for source in (VERTEX, FRAGMENT)]
    stars = gl.vertex_array(gl.program(*shaders), [(vertices, "4f", "star")])
    screen = gl.simple_framebuffer((chosen.width, chosen.height), 4)
    screen.use()
    gl.enable(moderngl.BLEND)
    gl.blend_func = moderngl.ONE, moderngl.ONE

    start = xp.from_dlpack(grinterop.Tensor.from_dlpack(SEEDS).clone(stream=stream))
    resource = grinterop.GraphicsResource.from_gl_buffer(vertices.glo, flags="write_discard")
    for frame in range(chosen.frames):
        with resource.map(stream=stream) as buffer:
            move(xp, xp.from_dlpack(buffer.tensor((COUNT, 4), "float32")), start, frame / 24)
        screen.clear(alpha=1)
        stars.render(moderngl.POINTS)
    pixels = screen.read(components=4)
    output.write_png(chosen.output / "moderngl.png", chosen.width, chosen.height, pixels)


if __name__ == "__main__":
    main()
