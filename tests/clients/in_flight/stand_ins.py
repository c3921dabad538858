# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Stands in for what the drawing code of `evolution` imports and does not draw with.

That is the simulation (a swarm takes its place), its window, and the packages PyOpenGL, Pillow and
Matplotlib, each of which it needs for one name. Without PyTorch, as on the software driver, a NumPy
array that copies itself to the device takes the place of a tensor.
"""

import math
import sys
import types

import numpy


def module(name, **names):
    made = types.ModuleType(name)
    vars(made).update(names)
    sys.modules[name] = made
    parent, _, last = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], last, made)
    return made


class Array(numpy.ndarray):
    """The part of torch.Tensor that the program uses."""

    def dim(self):
        return self.ndim

    def size(self, axis):
        return self.shape[axis]

    def stride(self, axis):
        return self.strides[axis] // self.itemsize

    def element_size(self):
        return self.itemsize

    def byte(self):
        return self.astype("uint8")

    def data_ptr(self):
        """Copies the array to memory that stays until the next 64 calls."""
        driver = sys.modules["cuda.cuda"]
        _, pointer = driver.cuMemAlloc(max(self.nbytes, 1))
        driver.cuMemcpyHtoD(pointer, numpy.ascontiguousarray(self), self.nbytes)
        Array.kept.append(pointer)
        if len(Array.kept) > 64:
            driver.cuMemFree(Array.kept.pop(0))
        return int(pointer)

    kept = []


def install():
    """Returns PyTorch, or a stand-in for it."""
    from cuda.bindings import driver, nvrtc

    try:
        import torch
    except ImportError:
        torch = module("torch", where=lambda *of: numpy.where(*of).view(Array))
    module("cuda.cuda", **vars(driver))  # the name before cuda-bindings 13
    module("cuda.nvrtc", **vars(nvrtc))
    module("OpenGL")
    module("OpenGL.GL", GL_TEXTURE_2D=0x0DE1)
    module("PIL")
    module("PIL.Image", open=sprite)
    module("matplotlib")
    ramp = numpy.linspace(0, 1, 259)
    table = numpy.stack((1 - ramp, ramp, ramp * (1 - ramp), ramp), 1)
    module("matplotlib.cm", RdYlGn=types.SimpleNamespace(_init=lambda: None, _lut=table))
    module("evolution.core.config", Config=object)
    module("evolution.core.gworld", GWorld=object)
    module("evolution.state.game_state", GameState=object)
    return torch


def sprite(path):
    """A round spot of RGBA. The repository does not contain the sprites."""
    y, x = numpy.mgrid[-1:1:32j, -1:1:32j]
    inside = x * x + y * y < 1
    return numpy.stack((255 * inside, 200 * inside, 180 * inside, 255 * inside), 2).astype("u1")


class Swarm:
    """The simulation's part in drawing: creatures that circle on a field of food."""

    def __init__(self, torch, publisher, count, size):
        self.torch = torch if hasattr(torch, "cuda") else None
        self.population = count
        self.state = types.SimpleNamespace(
            game_publisher=publisher, creatures_visible=True, hitboxes_enabled=False
        )
        rng = numpy.random.default_rng(1)
        self.size = size
        self.seeds = self.tensor(rng.random((count, 4), "float32"))
        self.field = self.tensor(rng.random((size, size), "float32"))
        self.creatures = types.SimpleNamespace()
        self.step(0)

    def tensor(self, array):
        return self.torch.from_numpy(array).cuda() if self.torch else array.view(Array)

    def step(self, frame):
        xp, made = self.torch or numpy, self.creatures

        def stack(of, axis):
            return xp.stack(of, axis) if self.torch else xp.stack(of, axis).view(Array)

        angle = 2 * math.pi * self.seeds[:, 2] + 0.02 * frame
        way = (xp.cos(angle), xp.sin(angle))
        radius = 0.1 * self.size * self.seeds[:, 3]
        made.positions = stack(
            [self.size * self.seeds[:, i] + radius * way[i] for i in range(2)], 1
        )
        made.head_dirs = stack(way, 1)
        made.sizes = 0.5 + self.seeds[:, 3]
        made.visual_colors = 255 * self.seeds[:, :3] + 0
        self.central_food_grid = 12 * self.field - 0.02 * (frame % 100)
