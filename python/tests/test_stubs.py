# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The type stubs match the extension: names, arguments, and which of them are optional."""

import ast
import inspect
from importlib import resources

import grinterop
from grinterop import _grinterop

STUBS = ast.parse((resources.files("grinterop") / "_grinterop.pyi").read_text())
ALL = {node.name: node for node in STUBS.body if isinstance(node, ast.ClassDef)}
CLASSES = {name: node for name, node in ALL.items() if not name.startswith("_")}


def members(node):
    """The functions of the stub or of a class and its bases. `a = b` has the arguments of b."""
    found = {}
    for base in getattr(node, "bases", ()):
        found |= members(ALL[base.id])
    for item in node.body:
        if isinstance(item, ast.FunctionDef):
            found[item.name] = item
        elif isinstance(item, ast.Assign):
            found[item.targets[0].id] = found[item.value.id]
    return found


FUNCTIONS = members(STUBS)


def has(function, decorator):
    return any(getattr(found, "id", "") == decorator for found in function.decorator_list)


def arguments(function, bound):
    """The named arguments, as pairs: the name, and whether it is optional."""
    args = function.args
    both = args.posonlyargs + args.args
    needed = len(both) - len(args.defaults)
    found = [(arg.arg, i >= needed) for i, arg in enumerate(both)]
    found += [(arg.arg, value is not None) for arg, value in zip(args.kwonlyargs, args.kw_defaults)]
    return found[1:] if bound else found


def differences(name, stub, runtime, bound):
    try:
        signature = inspect.signature(runtime)
    except (TypeError, ValueError):  # a dunder method without a text signature
        return []
    wanted = [
        (parameter.name, parameter.default is not parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name not in ("self", "type")
    ]
    found = arguments(stub, bound)
    return [] if found == wanted else [f"{name}: {found}, not {wanted}"]


def test_stub_functions_match_the_extension():
    runtime = {name for name in dir(_grinterop) if not name.startswith("__")}
    assert runtime == set(FUNCTIONS) | set(CLASSES)
    wrong = []
    for name, stub in FUNCTIONS.items():
        if not name.startswith("_"):
            wrong += differences(name, stub, getattr(_grinterop, name), False)
    assert not wrong


def test_stub_classes_match_the_extension():
    wrong = []
    for name, node in CLASSES.items():
        own, stubs = vars(getattr(_grinterop, name)), members(node)
        hidden = {"__new__", "__doc__", "__module__", "__repr__", "__weakref__", "__del__"}
        hidden |= {"__buffer__", "__release_buffer__"}  # in Python 3.12
        wrong += [f"{name}.{member}" for member in (set(own) ^ set(stubs)) - hidden]
        if "__new__" in stubs:
            wrong += differences(name, stubs["__new__"], getattr(_grinterop, name), True)
        for member, stub in stubs.items():
            is_property, bound = has(stub, "property"), not has(stub, "staticmethod")
            if is_property != inspect.isgetsetdescriptor(own.get(member)):
                wrong.append(f"{name}.{member} is a property on one side only")
            elif not is_property and member not in hidden:
                wrong += differences(f"{name}.{member}", stub, own[member], bound)
    assert not wrong


def test_dunder_all_has_every_public_name():
    assert all(hasattr(grinterop, name) for name in grinterop.__all__)
    public = {name for name in dir(_grinterop) if not name.startswith("_")}
    assert public <= set(grinterop.__all__)
