#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Encodes what OpenGL draws to H.264 by PyNvVideoCodec. No frame leaves the GPU.

    python3 encode.py --frames 300 --output pictures

OpenGL draws a scene. fetch_framebuffer() converts it to NV12 in the memory that the video engine
reads, and PICTURES/encode.h264 has the film, which ffplay shows. The GPU needs a video encoder
(NVENC), which A100, H100 and H200 have not.
"""

import math
import time

import gl
import grinterop
import output
from scene import Camera, Scene

try:
    import PyNvVideoCodec as codec
except Exception as error:  # Without a driver, PyNvVideoCodec raises arbitrary exceptions.
    output.missing("PyNvVideoCodec", " ".join(str(error).split())[:200])


class Frame:
    """NV12 in two tensors on the GPU."""

    def __init__(self, width, height, stream):
        self.planes = tuple(
            grinterop.Tensor.create(shape, "uint8", stream=stream)
            for shape in ((height, width, 1), (height // 2, width // 2, 2))
        )

    def cuda(self):
        """The encoder calls this, and reads __cuda_array_interface__ of each plane."""
        return list(self.planes)


class Film:
    def __init__(self, width, height, stream):
        self.stream, self.aspect = stream, width / height
        self.screen, self.scene = gl.Screen(width, height), Scene()
        self.screen.attach(gl.DEPTH_ATTACHMENT, gl.DEPTH_COMPONENT24)
        # Several frames, because the encoder may still read the last ones.
        self.frames = [Frame(width, height, stream) for _ in range(4)]
        try:
            self.encoder = codec.CreateEncoder(width, height, "NV12", False, codec="h264")
        except Exception as error:
            output.missing("a GPU with a video encoder", error)

    def draw(self, number):
        angle = number / 60
        self.screen.clear(0.05, 0.05, 0.06)
        gl.Enable(gl.DEPTH_TEST)
        eye = (7 * math.cos(angle), 7 * math.sin(angle), 4)
        self.scene.draw(Camera(eye, (0, 0, 1), self.aspect))

    def encode(self, number):
        """Returns the bytes that the encoder has finished. The first row of a film is its top."""
        frame = self.frames[number % len(self.frames)]
        grinterop.fetch_framebuffer(
            self.screen.name, frame.planes, stream=self.stream, layout="nv12", flip=True,
            chroma_position="left",
        )
        self.stream.sync()  # The encoder has a stream of its own.
        return bytes(self.encoder.Encode(frame))


def main():
    chosen = output.parse(output.options(__doc__.splitlines()[0], 300, "encode"))
    if chosen.width % 2 or chosen.height % 2:
        raise SystemExit("encode.py: NV12 needs an even --size")
    stream, egl = output.begin()
    print(egl.describe())
    film = Film(chosen.width, chosen.height, stream)
    path = chosen.output / "encode.h264"
    begun = time.perf_counter()
    with open(path, "wb") as file:
        for number in range(chosen.frames):
            film.draw(number)
            file.write(film.encode(number))
            output.progress(number + 1, chosen.frames, "frames")
        file.write(bytes(film.encoder.EndEncode()))
    rate = chosen.frames / (time.perf_counter() - begun)
    print(f"{rate:.0f} frames a second; the film is in {path}")


if __name__ == "__main__":
    main()
