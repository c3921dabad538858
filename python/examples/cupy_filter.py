#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""OpenGL draws a scene, CuPy filters the picture, OpenGL displays it: all on the GPU.

    python3 cupy_filter.py --frames 24 --output pictures

In each frame OpenGL draws to a texture. CuPy fetches it as an array of floats from 0 to 1, adds a
glow around bright areas, and publishes the array to the same texture. OpenGL draws the texture on
the screen: the left half without the filter, the right half with it.
"""

import time

import gl
import grinterop
import output

try:
    import cupy
    from cupyx.scipy import ndimage
except ImportError as error:
    output.missing("CuPy", error)

VERTEX = """
    out vec2 at;
    void main()
    {
        at = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
        gl_Position = vec4(at, 0, 1);
    }"""
FRAGMENT = """
    in vec2 at;
    uniform float time;
    uniform float width;
    out vec4 color;
    void main()
    {
        vec2 place = at * vec2(width, 1.0);
        vec3 sum = vec3(0.02, 0.03, 0.06) * (1.5 - length(at));
        for (int i = 0; i < 9; i++) {
            float turn = time * (0.4 + 0.13 * float(i)) + float(i) * 2.4;
            vec2 center = vec2(cos(turn) * width * 0.8, sin(turn * 1.31)) * 0.72;
            float far = length(place - center) - 0.05 - 0.012 * float(i);
            vec3 tint = 0.55 + 0.45 * cos(vec3(0.0, 2.1, 4.2) + float(i) * 0.8);
            sum = mix(sum, tint, smoothstep(0.012, 0.0, far));
        }
        color = vec4(sum, 1);
    }"""


class Scene:
    """The scene that OpenGL draws to a texture."""

    def __init__(self, width, height):
        self.screen = gl.Screen(width, height)
        self.program = gl.program(VERTEX, FRAGMENT)
        self.array = gl.vertex_array()

    def draw(self, seconds):
        self.screen.clear()
        gl.UseProgram(self.program)
        gl.Uniform1f(gl.uniform("time", self.program), seconds)
        gl.Uniform1f(gl.uniform("width", self.program), self.screen.width / self.screen.height)
        gl.BindVertexArray(self.array)
        gl.DrawArrays(gl.TRIANGLE_STRIP, 0, 4)


class Glow:
    """The filter: an OpenGL texture, a CuPy array, and the exchange between them."""

    def __init__(self, texture, width, height):
        self.resource = grinterop.GraphicsResource.from_gl_image(
            texture, gl.TEXTURE_2D, flags="surface_load_store"
        )
        self.image = cupy.empty((height, width, 4), cupy.float32)

    def run(self, stream):
        """Filters the texture. fetch() and publish() convert between texture bytes and floats."""
        grinterop.fetch(self.resource, self.image, stream=stream)
        color = self.image[:, :, :3]
        bright = cupy.maximum(color - 0.35, 0)
        glow = ndimage.gaussian_filter(bright, (18, 18, 0))
        color[...] = 1 - (1 - color) * cupy.exp(-2.2 * glow)
        grinterop.publish(self.resource, self.image, stream=stream)


def main():
    chosen = output.parse(output.options(__doc__.splitlines()[0], 24, "cupy_filter"))
    _, egl = output.begin(allow_software=False)
    stream = cupy.cuda.Stream(non_blocking=True)
    stream.use()
    print(f"CuPy {cupy.__version__}; {egl.describe()}")
    scene = Scene(chosen.width, chosen.height)
    glow = Glow(scene.screen.texture, chosen.width, chosen.height)
    shown, picture = gl.Screen(chosen.width, chosen.height), gl.Picture()
    plain = gl.texture(chosen.width, chosen.height)
    progress, spent = output.Progress(chosen.frames, "frames"), 0
    for frame in range(chosen.frames):
        scene.draw(frame / 12)
        gl.write_texture(plain, chosen.width, chosen.height, scene.screen.read())
        begun = time.perf_counter()
        glow.run(stream)
        stream.synchronize()
        spent += time.perf_counter() - begun
        shown.clear()
        picture.draw(scene.screen.texture)
        picture.draw(plain, right=0.0, across=0.5)
        path = chosen.output / f"cupy_filter-{frame:04}.png"
        output.write_png(path, chosen.width, chosen.height, shown.read())
        progress.show(frame + 1)
    print(f"{chosen.frames} frames in {chosen.output}; {1000 * spent / chosen.frames:.2f} ms each")


if __name__ == "__main__":
    main()
