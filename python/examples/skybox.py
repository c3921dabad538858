#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""OpenGL draws a sky that CUDA computes: one tensor becomes all faces of a cube map.

    python3 skybox.py --frames 24 --output pictures

The sky is an array of shape (6, side, side, 3), by CuPy or PyTorch, or by NumPy on the software
driver. Its colours are brighter than 1 near the sun, so the cube map has packed floats of 11, 11
and 10 bits. One call of publish() writes the six faces. PICTURES/skybox-0000.png and so on show the
frames.
"""

import math

import gl
import grinterop
import numpy
import output

FOCAL, EXPOSURE = 1.0, 1.2
VERTEX = """
    uniform vec4 view; // sine and cosine of the angle, width through height, focal length
    out vec3 ray;
    void main()
    {
        vec2 at = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2 - 1;
        vec3 seen = vec3(at.x * view.z, at.y, -view.w);
        ray = vec3(view.y * seen.x + view.x * seen.z, seen.y, view.y * seen.z - view.x * seen.x);
        gl_Position = vec4(at, 0, 1);
    }"""
FRAGMENT = f"""
    uniform samplerCube sky;
    in vec3 ray;
    out vec4 color;
    void main() {{ color = vec4(1 - exp(-{EXPOSURE} * texture(sky, ray).rgb), 1); }}"""


def directions(side):
    """The direction of each texel, (6, side, side, 3). OpenGL defines those of the faces."""
    down, right = numpy.indices((side, side), "float32") * (2 / side) + (1 / side - 1)
    one = numpy.ones_like(right)
    faces = (
        (one, -down, -right), (-one, -down, right), (right, one, down), (right, -one, -down),
        (right, -down, one), (-right, -down, -one),
    )
    rays = numpy.stack([numpy.stack(face, -1) for face in faces])
    return rays / numpy.linalg.norm(rays, axis=-1, keepdims=True)


def sky(xp, rays, time):
    """The colours in these directions: a blue sky with a sun that rises."""
    x, y, z = rays[..., 0], rays[..., 1], rays[..., 2]
    height = y.clip(0, 1) ** 0.5
    near = (math.cos(time) * -z + math.sin(time) * y + 0 * x).clip(0, 1)
    glow = 0.6 * near**8 + 40 * near**900
    ground = (-20 * y).clip(0, 1)
    colors = [
        (1 - ground) * (low + (high - low) * height + tint * glow) + ground * 0.08
        for low, high, tint in ((0.75, 0.10, 1.0), (0.80, 0.28, 0.8), (0.85, 0.70, 0.5))
    ]
    return xp.stack(colors, -1)


class View:
    def __init__(self, width, height):
        self.screen, self.aspect = gl.Screen(width, height), width / height
        self.program, self.array = gl.program(VERTEX, FRAGMENT), gl.vertex_array()
        self.view = gl.uniform("view", self.program)

    def draw(self, cube_map, angle):
        self.screen.clear()
        gl.UseProgram(self.program)
        gl.BindVertexArray(self.array)
        gl.ActiveTexture(gl.TEXTURE0)
        gl.BindTexture(gl.TEXTURE_CUBE_MAP, cube_map)
        gl.TexParameteri(gl.TEXTURE_CUBE_MAP, gl.TEXTURE_MIN_FILTER, gl.LINEAR)
        gl.Uniform4f(self.view, math.sin(angle), math.cos(angle), self.aspect, FOCAL)
        gl.DrawArrays(gl.TRIANGLE_STRIP, 0, 4)
        gl.check("drawing the sky")


def main():
    parser = output.options(__doc__.splitlines()[0], 24, "skybox")
    parser.add_argument("--side", type=int, default=512, help="of a face in texels; 512")
    chosen = output.parse(parser)
    xp, stream = output.arrays()
    with grinterop.EglContext(0):
        view = View(chosen.width, chosen.height)
        create = grinterop.GraphicsResource.create_gl_image
        cube_map = create(
            gl.TEXTURE_CUBE_MAP, gl.R11F_G11F_B10F, chosen.side, chosen.side,
            flags="write_discard", transports="any",
        )
        rays = grinterop.Tensor.from_dlpack(directions(chosen.side).astype("float32"))
        rays = xp.from_dlpack(rays.clone(stream=stream))
        for frame in range(chosen.frames):
            colors = sky(xp, rays, 0.05 + frame / 50)
            grinterop.publish(cube_map, colors, stream=stream, layer="all")
            view.draw(cube_map.gl_name, frame / 100)
            size = (chosen.width, chosen.height)
            output.write_png(chosen.output / f"skybox-{frame:04}.png", *size, view.screen.read())
            output.progress(frame + 1, chosen.frames, "frames")
        cube_map.close()


if __name__ == "__main__":
    main()
