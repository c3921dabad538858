# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests numba-cuda, except for compiled kernels: each case checks bytes that went through CUDA."""

import numpy as np
import pytest
from numba import cuda

COUNT = 5000


@pytest.fixture
def numbers():
    return np.arange(COUNT, dtype=np.int32)


def test_device():
    assert len(cuda.gpus) == 1
    device = cuda.get_current_device()
    name = device.name.decode() if isinstance(device.name, bytes) else device.name
    assert "grinterop" in name
    memory = cuda.current_context().get_memory_info()
    assert 0 < memory.free <= memory.total


def test_arrays(numbers):
    array = cuda.to_device(numbers)
    assert (array.copy_to_host() == numbers).all()
    assert (array[10:20].copy_to_host() == numbers[10:20]).all()
    plane = cuda.to_device(numbers.reshape(50, 100))
    assert (plane.copy_to_host() == numbers.reshape(50, 100)).all()
    other = cuda.device_array_like(array)
    other.copy_to_device(array)
    assert (other.copy_to_host() == numbers).all()


def test_streams_and_events(numbers):
    stream, first, last = cuda.stream(), cuda.event(), cuda.event()
    given, seen = (cuda.pinned_array(COUNT, dtype=np.int32) for _ in range(2))
    given[:] = numbers * 2
    array = cuda.device_array(COUNT, dtype=np.int32, stream=stream)
    first.record(stream)
    array.copy_to_device(given, stream=stream)
    array.copy_to_host(seen, stream=stream)
    last.record(stream)
    last.synchronize()
    assert (seen == numbers * 2).all() and last.query()
    assert cuda.event_elapsed_time(first, last) >= 0


def test_pinned_for_a_while(numbers):
    stream = cuda.stream()
    with cuda.pinned(numbers):
        array = cuda.to_device(numbers, stream=stream)
        stream.synchronize()
    assert (array.copy_to_host() == numbers).all()


def test_mapped_memory():
    mapped = cuda.mapped_array(100, dtype=np.float32)
    mapped[:] = 3
    assert (cuda.as_cuda_array(mapped).copy_to_host() == 3).all()


def test_managed_memory():
    managed = cuda.managed_array(100, dtype=np.float32)
    managed[:] = 4
    assert (cuda.as_cuda_array(managed).copy_to_host() == 4).all()


def test_array_interface(numbers):
    array = cuda.to_device(numbers)
    view = cuda.as_cuda_array(array)
    assert view.__cuda_array_interface__["data"] == array.__cuda_array_interface__["data"]
    assert (view.copy_to_host() == numbers).all()
