#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Four films at once on one wall: PyNvVideoCodec decodes, CV-CUDA resizes, OpenGL draws.

    python3 video_wall.py --frames 600 --output pictures FILM...

No frame leaves the GPU. The video engine decodes each film to RGB, CV-CUDA resizes it to its tile
of the wall, one call publishes the resized frame to the tile's texture, and OpenGL draws the tiles.
Films loop. Without arguments, the film in data/ is shown four times. The program prints frames per
second and keeps the last picture of the wall.
"""

import itertools
import time
from pathlib import Path

import gl
import grinterop
import output

try:
    import cvcuda
    import PyNvVideoCodec as codec
except Exception as error:  # Without a driver, PyNvVideoCodec raises arbitrary exceptions.
    output.missing("CV-CUDA and PyNvVideoCodec", " ".join(str(error).split())[:200])

FILM = Path(__file__).resolve().parents[1] / "data" / "quadrants.h264"


def frames_of(film):
    """The frames of a film, in a loop."""
    while True:
        demuxer = codec.CreateDemuxer(filename=str(film))
        decoder = codec.CreateDecoder(
            gpuid=0, codec=demuxer.GetNvCodecId(), cudacontext=0, cudastream=0,
            usedevicememory=True, outputColorType=codec.OutputColorType.RGB,
        )
        count = 0
        for packet in demuxer:
            for frame in decoder.Decode(packet):
                count += 1
                yield frame
        if not count:
            output.missing("films that can be decoded", f"{film} has no frames")


class Tile:
    """The tile of one film on the wall."""

    def __init__(self, film, number, width, height):
        self.frames = itertools.islice(frames_of(film), number * 11, None)
        self.shape = (height, width, 3)
        self.texture = gl.texture(width, height, filter=gl.LINEAR)
        self.resource = grinterop.GraphicsResource.from_gl_image(
            self.texture, gl.TEXTURE_2D, flags=("write_discard", "surface_load_store")
        )
        self.left, self.low = number % 2 - 1.0, -(number // 2) * 1.0

    def step(self, stream):
        """Publishes the next frame to the texture. The frame is flipped, as its first row is the
        top.
        """
        frame = grinterop.Tensor.from_dlpack(next(self.frames), stream=stream)
        with cvcuda.as_stream(int(stream.stream)):
            resized = cvcuda.resize(
                cvcuda.as_tensor(frame, "HWC"), self.shape, cvcuda.Interp.LINEAR
            )
        grinterop.publish(self.resource, resized.cuda(), stream=stream, flip=True)

    def draw(self, picture):
        gap = 0.01
        picture.draw(
            self.texture, self.left + gap, self.low + gap, self.left + 1 - gap, self.low + 1 - gap
        )


class Wall:
    def __init__(self, films, width, height):
        self.tiles = [Tile(film, i, width // 2, height // 2) for i, film in enumerate(films)]
        self.screen, self.picture = gl.Screen(width, height), gl.Picture()

    def step(self, stream):
        # The decoder reuses the memory of its last frame, so CUDA must have read that frame.
        stream.sync()
        for tile in self.tiles:
            tile.step(stream)
        self.screen.clear(0.05, 0.05, 0.06)
        for tile in self.tiles:
            tile.draw(self.picture)


def run(wall, stream, frames):
    """Draws that many pictures of the wall. Returns the time in seconds."""
    wall.step(stream)  # Warms up the decoders and kernels.
    gl.Finish()
    begun = time.perf_counter()
    for frame in range(frames):
        wall.step(stream)
        output.progress(frame + 1, frames, "pictures of the wall")
    gl.Finish()
    stream.sync()
    return time.perf_counter() - begun


def main():
    parser = output.options(__doc__.splitlines()[0], 300, "video_wall")
    parser.add_argument("films", nargs="*", type=Path, default=[FILM], metavar="FILM")
    chosen = output.parse(parser)
    stream, egl = output.begin(allow_software=False)
    print(f"CV-CUDA {cvcuda.__version__}, PyNvVideoCodec {codec.__version__}; {egl.describe()}")
    films = list(itertools.islice(itertools.cycle(chosen.films), 4))
    wall = Wall(films, chosen.width, chosen.height)
    seconds = run(wall, stream, chosen.frames)
    path = chosen.output / "video_wall.png"
    output.write_png(path, chosen.width, chosen.height, wall.screen.read())
    rate = chosen.frames / seconds
    print(f"{rate:.0f} pictures a second of 4 films, {4 * rate:.0f} frames decoded a second")
    print(f"the last picture is in {path}")


if __name__ == "__main__":
    main()
