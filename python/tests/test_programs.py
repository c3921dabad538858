# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests in separate Python processes: refused interpreters, Ctrl-C, and random calls."""

import json
import os
import re
import sysconfig
import textwrap

import grinterop
import pytest

from conftest import run_python

pytestmark = pytest.mark.program


# ---- Interpreters --------------------------------------------------------------------------------


def run(program):
    """Runs a separate Python process. Returns its output."""
    found = run_python("-c", textwrap.dedent(program))
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_calls_without_a_context_cause_no_warning():
    """Catches: the software driver said that a call needs a CUDA context."""
    program = """if True:
        import grinterop, numpy, threading
        grinterop.Tensor.create(4).clone()
        cuda, egl = grinterop.CudaContext(), grinterop.EglContext()
        ring = grinterop.Ring([grinterop.GraphicsResource.create_gl_buffer(64)])
        call = lambda: grinterop.publish(ring, numpy.zeros(64, "u1"), stream=cuda)
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        assert ring.info()["written"] == 1"""
    found = run_python("-c", program)
    assert found.returncode == 0 and "context" not in found.stderr, found.stderr


LATE = """
import codecs, os, socket
import numpy as np, grinterop as gr
cuda, egl = gr.CudaContext(0), gr.EglContext(0)
one, *rest = [gr.GraphicsResource.create_gl_buffer(64) for _ in range(4)]
ring = gr.Ring(rest)
here, there = (end.detach() for end in socket.socketpair())
class Late:
    def __init__(self, *calls):
        self.calls, self.error, self.text, self.write = calls, BaseException, str, os.write
    def __call__(self, name):
        return None
    def __del__(self):
        for call in self.calls:
            try:
                call()
            except self.error as error:
                self.write(1, self.text(error).encode() + b"\\n")
        self.write(1, b"done\\n")
def map_one(one=one, cuda=cuda):
    one.map(stream=cuda).close()
def buffer(slots=ring.acquire_write(stream=cuda)):
    slots.buffer.tensor()
    slots.hand_over()
def copy(one=one, bytes=np.zeros(64, "u1"), publish=gr.publish, cuda=cuda):
    publish(one, bytes, stream=cuda)
def fail(make=gr.GraphicsResource.from_gl_buffer):
    make(4711)
def send(one=one, here=here, there=there):
    one.send(here, b"x", timeout=1)
    one.receive(there, timeout=1)
def read(ring=ring):
    with ring.acquire_read(timeout=1):
        pass
late = Late(map_one, buffer, copy, fail, send, read)
"""


@pytest.mark.parametrize("keeps", ["codecs.register(late); del late", ""])
@pytest.mark.parametrize("imports", ["", "import cuda.core as core"])
def test_calls_at_exit(keeps, imports):
    """When Python has no modules any more, and while it ends them. Catches: map() aborted the
    process, send() never returned, and errors were "sys.meta_path is None".
    """
    if imports:
        pytest.importorskip("cuda.core")
    late = LATE.replace("(map_one, buffer, copy, fail, send, read)", "(map_one, copy, fail, send)")
    printed = run((LATE if keeps else late) + f"{imports}\n{keeps}")
    assert re.fullmatch("There is no OpenGL buffer 4711.*\ndone\n", printed)


@pytest.mark.parametrize("isolated", [False, True])
def test_import_in_a_subinterpreter_is_refused(isolated):
    """Catches: the import broke the exceptions of the main interpreter."""
    printed = run(
        f"""
        import sys, grinterop
        text = "import sys\\ntry:\\n import grinterop\\nexcept ImportError as error:"
        text += "\\n print(error, flush=True)"
        if sys.version_info >= (3, 13):
            import _interpreters as made
            one = made.create("isolated" if {isolated} else "legacy")
        else:
            import _xxsubinterpreters as made
            one = made.create(isolated={isolated})
        made.run_string(one, text)
        made.destroy(one)
        try:
            grinterop.Tensor.create((1, 2, 3), "f4", strides=(1, 2))
        except ValueError:
            pass
        try:
            grinterop.Tensor.from_memory(0, (8,))
        except grinterop.InvalidValueError as error:
            print("still", error.status)
        """
    )
    lines = printed.splitlines()
    assert len(lines) == 2 and "interpreter" in lines[0]
    assert lines[1] == "still GR_ERR_INVALID_VALUE"


@pytest.mark.parametrize(
    "options", [["-O", "-X", "dev", "-m", "grinterop"], ["-Xdev", "-Omgrinterop"]]
)
def test_run_keeps_the_options_of_python(options):
    """Catches: -O and -X were lost."""
    found = run_python(
        *options, "run", "-c", "import sys; print(sys.flags.optimize, sys._xoptions, sys.argv)", "a"
    )
    assert found.stdout == "1 {'dev': True} ['-c', 'a']\n", found.stderr


def test_import_of_the_commands_runs_nothing():
    """Catches: the import replaced the process by grinterop-info."""
    assert run("import grinterop.__main__\nprint('here')") == "here\n"


def test_second_import_returns_the_same_module():
    printed = run(
        """
        import sys, grinterop
        first, tensor = grinterop.Tensor, grinterop.Tensor.create((4,), memory="host")
        for name in [name for name in sys.modules if name.startswith("grinterop")]:
            del sys.modules[name]
        import grinterop
        print(grinterop.Tensor is first, grinterop.Tensor.from_dlpack(tensor) is tensor)
        try:
            grinterop.Tensor.from_memory(0, (8,))
        except grinterop.InvalidValueError:
            print("caught")
        """
    )
    assert printed == "True True\ncaught\n"


def test_free_threaded_python_keeps_the_gil_disabled():
    """The import of an extension that needs the GIL enables it."""
    printed = run("import sys, grinterop; print(getattr(sys, '_is_gil_enabled', lambda: True)())")
    assert printed == f"{not sysconfig.get_config_var('Py_GIL_DISABLED')}\n"


# ---- Ctrl-C --------------------------------------------------------------------------------------

WAITS = """
import os, signal, sys, threading, time, ctypes, grinterop
cuda, egl = grinterop.CudaContext(0), grinterop.EglContext(0)
made = [grinterop.GraphicsResource.create_gl_buffer(64) for _ in range(2)]
ring = grinterop.Ring(made)
other = grinterop.GraphicsResource.create_gl_buffer(64, transports="copy", flags="read_only")
tensor = grinterop.Tensor.create((64,), stream=cuda)
reached = threading.Event()
HostFunction = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
held = HostFunction(lambda _: reached.wait(20))
library = ctypes.CDLL("libcuda.so.1")

def hold():
    assert library.cuLaunchHostFunc(ctypes.c_void_p(cuda.stream), held, None) == 0

def collect(timeout):
    used = grinterop.Tensor.create((64,), memory="pinned", stream=cuda)
    hold()
    used.used_on(cuda)
    used.close()
    grinterop.Tensor.collect(timeout)

def wait(timeout):
    buffer = other.map(stream=cuda)
    hold()
    buffer.close()
    other.wait(timeout)

def publish(timeout):
    for _ in range(3):
        grinterop.publish(ring, tensor, stream=cuda, timeout=timeout)

def acquire_write(timeout):
    taken = [ring.acquire_write(stream=cuda, timeout=timeout) for _ in range(3)]

calls = {
    "acquire_read": lambda timeout: ring.acquire_read(timeout=timeout),
    "acquire_write": acquire_write,
    "publish": publish,
    "collect": collect,
    "wait": wait,
}
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
began = time.monotonic()
try:
    calls[sys.argv[1]](eval(sys.argv[2]))
    print("it ended")
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - began)
except Exception as error:
    print(repr(error))
reached.set()
cuda.sync()
"""


@pytest.mark.parametrize("timeout", ["None", "12"])
@pytest.mark.parametrize("call", ["acquire_read", "acquire_write", "publish", "collect", "wait"])
def test_ctrl_c_ends_a_wait(call, timeout, cuda):
    """Catches: Ctrl-C was handled only after the timeout, and never without a timeout."""
    if call == "wait" and not grinterop.cuda_is_software():
        pytest.skip("a map on the GPU may wait for the stream")
    found = run_python("-c", WAITS, call, timeout)
    word, _, seconds = found.stdout.partition(" ")
    assert word == "interrupted" and float(seconds) < 6, found.stdout + found.stderr


# ---- Random calls --------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [[], ["--without-core"]], ids=["core", "without core"])
def test_random_calls_of_two_threads_cause_no_crash(options):
    """Runs random_threads.py for a few seconds. Longer runs are started by hand."""
    program = os.path.join(os.path.dirname(__file__), "random_threads.py")
    found = run_python(program, "--seed", 1, "--seconds", 4, *options)
    assert found.returncode == 0, found.stdout + found.stderr


# ---- python -m grinterop -------------------------------------------------------------------------


def test_command_runs_programs_on_the_software_driver():
    """Catches: a library that opens libcuda.so.1 itself got another driver than grinterop."""
    code = "import ctypes, grinterop; grinterop.cuda_load(); print(grinterop.cuda_is_software())"
    code += "; print(ctypes.CDLL('libcuda.so.1').cuInit(0))"
    found = run_python("-m", "grinterop", "run", "-c", code, LD_LIBRARY_PATH="/nowhere")
    assert (found.stdout, found.returncode) == ("True\n0\n", 0), found.stderr
    folder = run_python("-m", "grinterop", "libcuda").stdout.strip()
    assert os.path.isfile(f"{folder}/libcuda.so.1")


def test_command_reports_what_works():
    report = run_python("-m", "grinterop", "--json")
    assert json.loads(report.stdout)["grinterop"], report.stderr
    for words, status in ((["--help"], 0), (["walk"], 2), (["run"], 2)):
        found = run_python("-m", "grinterop", *words)
        assert found.returncode == status and "libcuda.so.1" in found.stdout


FORKED = """
import ctypes, gc, os, signal, sys
import numpy as np, grinterop as gr
cuda, egl, R = gr.CudaContext(0), gr.EglContext(0), gr.GraphicsResource
array = np.zeros(64, "u1")
one, free, image = *(R.create_gl_buffer(64) for _ in "12"), R.create_gl_image(0x0DE1, 0x8058, 4, 4)
buffer, picture = one.map(stream=cuda), image.map(stream=cuda)
ring = gr.Ring([R.create_gl_buffer(64) for _ in range(4)])
ring.acquire_write(stream=cuda).hand_over()
wrapped = gr.Tensor.from_memory(array.ctypes.data, 64, memory="host", owner=array)
objects = [
    buffer, picture, buffer.tensor(), wrapped, gr.Tensor.from_dlpack((wrapped, wrapped)),
    gr.Tensor.create(64), gr.Tensor.create(64, memory="pinned"), one, image, free,
    ring.acquire_write(stream=cuda), ring.acquire_read(), ring, cuda, egl,
]
objects += [objects[10].buffer, R.from_gl_buffer(free.gl_name, transports="copy")]
views = [memoryview(objects[6])]
try:
    objects.append(gr.VulkanDevice.headless(0))
    objects += [objects[-1].create_vk_buffer(64, 3), objects[-1].create_vk_image(37, 4, 4, 3)]
except gr.CUDAError:
    pass
functions = gr.publish, gr.fetch, gr.map_many, gr.Submit
del picture, wrapped
LAST = "close __exit__ hand_over give_back cancel __del__".split()
if not (pid := os.fork()):
    libc = ctypes.CDLL(None)  # after Python: what Mesa does at exit fails in forked children
    libc.__cxa_atexit(ctypes.cast(libc._exit, ctypes.c_void_p), 7, None)
    signal.alarm(60)
    if sys.argv[1] == "use":
        def attempt(call, *args, **options):
            try:
                return call(*args, **options)
            except Exception:
                pass
        for object in objects:
            names = {name for name in dir(object) if not name.startswith("__")}
            names -= {"read", "write", "receive"}  # which await nothing, or wait for a socket
            names |= {"__dlpack__", "__array__", "__repr__", "__len__", *LAST}
            for name in sorted(names, key=lambda name: LAST.index(name) if name in LAST else -1):
                member = attempt(getattr, object, name)
                for args in ((), (1,), (cuda,), (64, 1)) if callable(member) else ():
                    attempt(member, *args)
                    attempt(member, *args, stream=1)
            for function in functions:
                attempt(function, object, array, stream=1)
                attempt(function, [object], stream=1)
        try:
            one.map(stream=1)
        except RuntimeError:
            pass
        else:
            os._exit(4)
    if sys.argv[1] == "drop":
        for name in "objects views buffer one image free ring array".split():
            del globals()[name]
        gc.collect()
    sys.exit()
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


@pytest.mark.parametrize("way", ["exit", "drop", "use"])
def test_objects_of_the_parent_do_no_harm_in_a_forked_child(way):
    """Catches: a child with a mapped Buffer died by SIGSEGV, also at a plain exit."""
    found = run_python("-c", FORKED, way)
    assert (found.stdout, found.stderr) == ("7\n", "")
