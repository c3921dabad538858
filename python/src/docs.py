# SPDX-License-Identifier: Apache-2.0 OR MIT
"""docs.py STUB HEADER: makes the header with the docstrings of the extension, from its type stub.

A class has the arguments of its __new__(). The last of several overloads has the docstring, and the
arguments of all. A docstring after `a = b` is that of a, which has the arguments of b.
"""

import ast
import inspect
import json
import sys
from pathlib import Path


def signature(name, function, within):
    """The first line of a docstring, which inspect.signature() reads."""
    decorators = [getattr(one, "id", "") for one in function.decorator_list]
    if "property" in decorators:
        return ""
    args = function.args
    both = args.posonlyargs + args.args
    defaults = [None] * (len(both) - len(args.defaults)) + args.defaults + args.kw_defaults
    shown = [
        arg.arg + (f"={ast.unparse(default)}" if default else "")
        for arg, default in zip(both + args.kwonlyargs, defaults)
    ]
    if args.kwonlyargs:
        shown.insert(len(both), "*")
    if args.posonlyargs:
        shown.insert(len(args.posonlyargs), "/")
    if function.name == "__new__":
        del shown[0]
    elif within and "staticmethod" not in decorators:
        shown[0] = "$type" if "classmethod" in decorators else "$self"
    return f"{name}({', '.join(shown)})\n--\n\n"


def docs_of(body, classes, within=""):
    """The docstrings by name, such as "Ring.stop"."""
    functions, found = {}, {}
    for node, after in zip(body, [*body[1:], None]):
        if isinstance(node, ast.ClassDef):
            classes[node.name] = node
            if not node.name.startswith("_"):
                found |= docs_of_class(node, classes)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            functions[node.name] = node
            text = (ast.get_docstring(node) or "").rstrip()
            if text and node.name != "__new__":
                found[within + node.name] = signature(node.name, node, within) + text
        elif isinstance(node, ast.Assign) and isinstance(after, ast.Expr):
            name = node.targets[0].id
            text = inspect.cleandoc(after.value.value).rstrip()
            found[within + name] = signature(name, functions[node.value.id], within) + text
    return found


def docs_of_class(node, classes):
    found = {}
    for base in node.bases:
        base = classes.get(getattr(base, "id", None))
        found |= docs_of(base.body, classes, node.name + ".") if base else {}
    found |= docs_of(node.body, classes, node.name + ".")
    made = [one for one in node.body if getattr(one, "name", "") == "__new__"]
    text = (ast.get_docstring(node) or "").rstrip()
    found[node.name] = (signature(node.name, made[-1], "") if made else "") + text
    return found


stub, header = sys.argv[1:]
docs = docs_of(ast.parse(Path(stub).read_text("utf-8")).body, {})
lines = [
    f"    {{{json.dumps(name)}, {json.dumps(text, ensure_ascii=False)}}},\n"
    for name, text in sorted(docs.items())
]
Path(header).write_text(
    f"static const struct doc docs[] = {{\n{''.join(lines)}}};\n", "utf-8", newline="\n"
)
