# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The process of one framework: writes the result of each cell to a pipe."""

import gc
import json
import sys
import traceback

import grinterop

from . import arrays, drivers, pipelines, places, vision
from .cells import Cells, one_line

FRAMEWORKS = {
    kind.name: kind
    for kind in (
        arrays.PyTorch,
        arrays.CuPy,
        drivers.CUDAPython,
        arrays.NumPy,
        arrays.JAX,
        arrays.Numba,
        drivers.PyCUDA,
        drivers.Warp,
        vision.CVCUDA,
        vision.NvImageCodec,
        vision.PyNvVideoCodec,
    )
}

SHAPE = (240, 320, 4)


def say(pipe, **what):
    print(json.dumps(what), file=pipe, flush=True)


def machine(egl):
    """Describes the machine and its software."""
    import gl

    return {
        "software": grinterop.is_software(),
        "driver": grinterop.driver_path(),
        "opengl": gl.describe(),
        "egl": egl.describe(),
        "grinterop": grinterop.__version__,
        "python": sys.version.split()[0],
    }


def made(kind):
    """Returns a graphics object, or why it could not be created."""
    try:
        return kind(SHAPE), None
    except Exception as error:
        return None, one_line(error)


def run_cells(pipe, framework, stream):
    cells = Cells(framework, stream)
    for kind in places.KINDS:
        place, reason = made(kind)
        for direction, run in (("out", cells.out), ("in", cells.into)):
            ways = run(place) if place else [{"way": "place", "result": "failed", "reason": reason}]
            say(pipe, cell=[kind.title, direction], ways=ways)
        if place:
            try:
                place.close()
            except Exception as error:
                say(pipe, trouble=f"closing {kind.title}: {one_line(error)}")


def run_pipeline(pipe, name, stream, out):
    steps = []
    try:
        for step in pipelines.STEPS[name](stream, out):
            steps.append(step)
    except ImportError as error:
        say(pipe, absent=one_line(error), steps=steps)
        return
    except Exception as error:
        say(pipe, trouble=f"after {len(steps)} steps: {one_line(error)}")
    say(pipe, steps=steps, done=True)


def run(name, pipe, out):
    """Runs all cells of one framework, or a pipeline."""
    grinterop.load(allow_software=True)
    context = grinterop.CudaContext(0)
    egl = grinterop.EglContext(0)
    say(pipe, machine=machine(egl))
    if name in pipelines.STEPS:
        run_pipeline(pipe, name, context, out)
        return
    try:
        framework = FRAMEWORKS[name](context)
    except Exception as error:
        say(pipe, absent=one_line(error))
        return
    say(pipe, version=framework.version())
    try:
        run_cells(pipe, framework, context)
    except Exception:
        say(pipe, trouble=traceback.format_exc(limit=3))
    try:
        gc.collect()
        framework.close()
    except Exception as error:
        say(pipe, trouble=f"closing the framework: {one_line(error)}")
    if places.VulkanPlace.device:
        line = places.VulkanPlace.device.describe()
        say(pipe, vulkan=line.removeprefix("Vulkan device ").split(" (UUID")[0])
    say(pipe, done=True)
