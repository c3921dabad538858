# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The streams that calls accept, and how long they are kept."""

import weakref

import pytest
from grinterop import GraphicsResource

class Stream:
    def __init__(self, answer):
        self.answer = answer

    def __cuda_stream__(self):
        return self.answer


class OldStream:
    __cuda_stream__ = (0, 1)


class Pointer:
    ptr = 2


@pytest.mark.parametrize(
    "stream", [0, 1, 2, Stream((0, 0)), Stream((0, 1)), OldStream(), Pointer()]
)
def test_map_accepts_each_kind_of_stream(resource, stream):
    with resource.map(stream=stream) as buffer:
        assert buffer.handle


@pytest.mark.parametrize(
    "stream, error",
    [
        (None, TypeError),
        ("1", TypeError),
        (1.5, TypeError),
        (object(), TypeError),
        (-1, ValueError),
        (2**64 - 1, ValueError),
        (2**64 - 2, ValueError),
        (2**70, ValueError),
        (Stream(None), RuntimeError),
        (Stream((1, 0)), RuntimeError),
        (Stream((0,)), RuntimeError),
        (Stream((0, None)), RuntimeError),
        (Stream((0, -1)), ValueError),
    ],
)
def test_invalid_streams_are_refused(resource, stream, error):
    with pytest.raises(error):
        resource.map(stream=stream)
    assert not resource.is_mapped


def test_map_requires_stream_as_its_only_keyword_argument(resource):
    for call in (
        lambda: resource.map(),
        lambda: resource.map(stream=1, other=2),
        lambda: resource.map(other=2),
        lambda: resource.map(1),
    ):
        with pytest.raises(TypeError, match="map\\(\\) .* argument"):
            call()


def test_mapping_keeps_its_stream(resource):
    stream = Stream((0, 1))
    seen = weakref.ref(stream)
    buffer = resource.map(stream=stream)
    del stream
    assert seen() is not None
    buffer.close()
    assert seen() is None


def test_map_fails_if_its_stream_closes_the_resource(vbo):
    resource = GraphicsResource.from_gl_buffer(vbo)

    class Closing:
        def __cuda_stream__(self):
            resource.close()
            return (0, 1)

    with pytest.raises(RuntimeError, match="has been closed"):
        resource.map(stream=Closing())
