# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The type stubs match the extension: names, arguments, and which of them are optional. They have
the docstrings of the extension.
"""

import ast
import inspect
import operator
import os
import re
from importlib import resources
from pathlib import Path

import grinterop
from grinterop import _grinterop

STUBS = ast.parse((resources.files("grinterop") / "_grinterop.pyi").read_text())
ALL = {node.name: node for node in STUBS.body if isinstance(node, ast.ClassDef)}
CLASSES = {name: node for name, node in ALL.items() if not name.startswith("_")}
OWN = ("self", "cls", "type")


def members(node):
    """The functions of the stub or of a class and its bases. `a = b` has the arguments of b."""
    found = {}
    for base in getattr(node, "bases", ()):
        found |= members(ALL[base.id]) if isinstance(base, ast.Name) else {}
    for item in node.body:
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found[item.name] = item
        elif isinstance(item, ast.Assign) and isinstance(item.value, ast.Name):
            found[item.targets[0].id] = found[item.value.id]
    return found


FUNCTIONS = members(STUBS)


def has(function, decorator):
    return any(getattr(found, "id", "") == decorator for found in function.decorator_list)


def arguments(function):
    """The names of the arguments, how many may be positional, and which are required."""
    args = function.args
    both = [arg.arg for arg in args.args if arg.arg not in OWN]
    names = (*both, *(arg.arg for arg in args.kwonlyargs))
    optional = {arg.arg for arg, value in zip(args.kwonlyargs, args.kw_defaults) if value}
    optional.update(both[len(both) - len(args.defaults) :] if args.defaults else ())
    return names, len(both), set(names) - optional


def parsed_in_c():
    """The same for each call in the C sources that parses arguments by name."""
    for path in (Path(os.environ["GR_SOURCE"]) / "python/src").glob("*.c"):
        text = path.read_text()
        parsed = r'PARSE(?:\(|_IN\([^;]*?,)\s*"([^":]*)[^"]*",\s*NAMES\((.*?)\)'
        for form, names in re.findall(parsed, text, re.S):
            names = re.findall(r"\w+", names)
            form = re.sub(r"\(.*\)", "O", re.sub("[&#*]", "", form))  # a character per argument
            positional = form.partition("$")[0].replace("|", "")
            required = form.partition("|")[0].replace("$", "")
            yield tuple(names), len(positional), set(names[: len(required)])
        for table in re.findall(r"struct parameters parameters = \{(.*?)\};", text, re.S):
            names = re.findall(r'"(\w+)"', table)
            counts = {key: int(value) for key, value in re.findall(r"\.(\w+) = (\d+)", table)}
            required = set(names[: counts.get("required", 0)])
            yield tuple(names), counts.get("positional", 0), required


def test_stub_arguments_are_those_that_c_parses():
    stubs = [FUNCTIONS] + [members(node) for node in CLASSES.values()]
    functions = [one for found in stubs for one in found.values() if not has(one, "property")]
    # These are required, but C finds that they are missing after it has parsed the arguments.
    late = {"stream", "dst"}
    in_stub, in_c = (
        {(names, count, *sorted(required - late)) for names, count, required in found if names}
        for found in (map(arguments, functions), parsed_in_c())
    )
    assert in_stub == in_c


def differences(name, stub, runtime):
    """What is wrong with the docstring of a function or type."""
    if not runtime.__doc__:
        return [f"{name} has no docstring"]
    wanted = [one.arg for one in stub.args.posonlyargs if one.arg not in OWN]
    wanted += arguments(stub)[0]
    found = [one for one in inspect.signature(runtime).parameters if one not in OWN]
    return [] if found == wanted else [f"{name}: {found}, not {wanted}"]


def test_functions_are_documented():
    runtime = {name for name in dir(_grinterop) if not name.startswith("__")}
    assert runtime == set(FUNCTIONS) | set(CLASSES)
    wrong = []
    for name, stub in FUNCTIONS.items():
        if not name.startswith("_"):
            wrong += differences(name, stub, getattr(_grinterop, name))
    assert not wrong


def test_classes_are_documented():
    wrong = []
    for name, node in CLASSES.items():
        own, stubs = vars(getattr(_grinterop, name)), members(node)
        hidden = {"__new__", "__doc__", "__module__", "__repr__", "__weakref__", "__del__"}
        hidden |= {"__buffer__", "__release_buffer__"}  # in Python 3.12
        hidden |= {"__class_getitem__", "alloc", "wrap"}  # of generic classes; of 0.2.0
        wrong += [f"{name}.{member}" for member in (set(own) ^ set(stubs)) - hidden]
        if "__new__" in stubs:
            wrong += differences(name, stubs["__new__"], getattr(_grinterop, name))
        for member, stub in stubs.items():
            is_property = has(stub, "property")
            if is_property != inspect.isgetsetdescriptor(own.get(member)):
                wrong.append(f"{name}.{member} is a property on one side only")
            elif not member.startswith("_"):
                doc = own[member].__doc__
                wrong += [] if doc and is_property else differences(member, stub, own[member])
    assert not wrong


def test_generic_classes_take_arguments_at_run_time():
    generic = [name for name, node in CLASSES.items() if "Generic" in ast.dump(node)]
    assert generic and all(getattr(grinterop, name)[grinterop.Buffer] for name in generic)


def test_dunder_all_has_every_public_name():
    assert all(hasattr(grinterop, name) for name in grinterop.__all__)
    public = {name for name in dir(_grinterop) if not name.startswith("_")}
    assert public <= set(grinterop.__all__)


def test_the_package_has_no_other_public_names():
    """Catches: Literal, NamedTuple, Sequence, TYPE_CHECKING and annotations."""
    public = {name for name in vars(grinterop) if not name.startswith("_")}
    assert public - set(OLD_NAMES) == set(grinterop.__all__)


OLD_NAMES = {
    "load": "cuda_load", "is_software": "cuda_is_software", "driver_path": "cuda_driver_path",
    "probe": "gl_probe", "collect": "Tensor.collect", "Tensor.alloc": "Tensor.create",
    "Tensor.wrap": "Tensor.from_memory", "Buffer.copy_from_image": "Buffer.copy_to_linear",
    "Buffer.copy_to_image": "Buffer.copy_from_linear",
    "VulkanDevice.create_buffer": "VulkanDevice.create_vk_buffer",
    "VulkanDevice.create_image": "VulkanDevice.create_vk_image",
}


def test_names_of_0_2_0_stay():
    for old, new in OLD_NAMES.items():
        assert operator.attrgetter(old)(grinterop) == operator.attrgetter(new)(grinterop)
