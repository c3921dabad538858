# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs python/examples/encode.py with FFmpeg in place of NVENC, which many GPUs do not have."""

import importlib
import sys
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

WIDTH, HEIGHT, FRAMES = 96, 64, 60


class Encoder:
    """H.264 by x264, with the calls of PyNvVideoCodec's encoder that the example makes."""

    def __init__(self, av, width, height, layout, **settings):
        assert layout == "NV12" and settings == {"codec": "h264"}
        self.av, self.seen = av, []
        self.codec = av.CodecContext.create("libx264", "w")
        self.codec.width, self.codec.height, self.codec.pix_fmt = width, height, "nv12"
        self.codec.time_base = Fraction(1, 60)
        self.codec.options = {"qp": "4", "preset": "fast"}

    def Encode(self, frame):  # noqa: N802, the name of PyNvVideoCodec
        luma, chroma = (np.frombuffer(plane.tobytes(), "u1") for plane in frame.cuda())
        rows = np.concatenate([luma, chroma]).reshape(-1, self.codec.width)
        self.seen.append(rows.astype(int))
        picture = self.av.VideoFrame.from_ndarray(rows, format="nv12")
        picture.pts = len(self.seen)
        return b"".join(map(bytes, self.codec.encode(picture)))

    def EndEncode(self):  # noqa: N802
        return b"".join(map(bytes, self.codec.encode(None)))


@pytest.fixture
def encode(monkeypatch):
    av = pytest.importorskip("av")
    codec = SimpleNamespace(
        CreateEncoder=lambda width, height, layout, on_host, **settings: Encoder(
            av, width, height, layout, **settings
        )
    )
    monkeypatch.setitem(sys.modules, "PyNvVideoCodec", codec)
    monkeypatch.delitem(sys.modules, "encode", raising=False)
    return importlib.import_module("encode")


def decoded(av, film):
    """The rows of NV12 of each frame."""
    codec = av.CodecContext.create("h264", "r")
    for packet in [*codec.parse(film), *codec.parse(b""), None]:
        for frame in codec.decode(packet):
            yield frame.reformat(format="nv12").to_ndarray().astype(int)


def test_sixty_frames_come_back(egl, cuda, encode):
    egl.make_current()
    film = encode.Film(WIDTH, HEIGHT, cuda)
    data, drawn = b"", []
    for number in range(FRAMES):
        film.draw(number)
        data += film.encode(number)
        pixels = np.frombuffer(film.screen.read(), "u1").reshape(HEIGHT, WIDTH, 4)
        drawn.append(pixels[::-1, :, :3] @ (0.2126, 0.7152, 0.0722) * 219 / 255 + 16)
    data += film.encoder.EndEncode()
    back = list(decoded(film.encoder.av, data))
    assert len(back) == FRAMES
    for frame, seen, luma in zip(back, film.encoder.seen, drawn, strict=True):
        assert abs(frame - seen).max() <= 3
        assert abs(frame[:HEIGHT] - luma).max() <= 3
    assert (drawn[0] != drawn[-1]).mean() > 0.05, "the camera moves"
