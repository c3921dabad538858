# SPDX-License-Identifier: Apache-2.0 OR MIT
"""python.py PACKAGE OUT: writes the HTML reference of the Python package, by pdoc.

The type stub has all signatures and docstrings, so it stands in for the extension, which need not
be built. What an argument may be is shown by the name of its type alias: Stream, Array.
"""

import ast
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import pdoc

FIRST = "from __future__ import annotations"
PLAIN = "SupportsIndex = SupportsInt = int; SupportsFloat = float"


def shown_as(name):
    """A type with a plain name in place of an alias."""
    return ast.parse(f"{name} = type('{name.removeprefix('_')}', (), dict(__module__='builtins'))")


def joined(one, other):
    """The annotation of two overloads."""
    texts = dict.fromkeys(map(ast.unparse, (one, other)))
    return ast.parse(" | ".join(texts), mode="eval").body


def members(body):
    """Without overloads and old names, and with __init__(), which pdoc shows, for __new__()."""
    last = None
    for node, after in zip(body, [*body[1:], None]):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and not isinstance(after, ast.Expr):
            continue  # a name of 0.2.0
        decorators = getattr(node, "decorator_list", ())
        if getattr(node, "name", "") == "__new__":
            node.name, node.args.args[0].arg, node.returns = "__init__", "self", None
        if getattr(node, "name", "") == "__class_getitem__":
            continue  # that of Generic returns a type; the body in the stub does not
        if not any(getattr(one, "id", "") == "overload" for one in decorators):
            yield node
        elif last and last.name == node.name:
            del node.decorator_list[0]
            for arg, before in zip(node.args.kwonlyargs, last.args.kwonlyargs):
                arg.annotation = joined(before.annotation, arg.annotation)
            node.returns = joined(last.returns, node.returns)
            yield node
        last = node if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else None


def module_of(stub):
    """The source of a module that looks like the extension."""
    body, mixins, public = ast.parse(FIRST).body, {}, set()
    for node in ast.parse(stub).body:
        if isinstance(node, ast.ClassDef):
            node.decorator_list = []
            node.body = [*members(node.body)]
            for base in [base for base in node.bases if getattr(base, "id", "") in mixins]:
                node.bases.remove(base)
                node.body += mixins[base.id].body
            if node.name.startswith("_") and not node.bases:
                mixins[node.name] = node
            elif node.name.startswith("_"):
                base = ast.unparse(node.bases[0])
                node = ast.parse(f"{node.name} = {base if base in public else 'dict'}")
            else:
                public.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            if "Literal" not in ast.dump(node.value) or len(ast.unparse(node.value)) > 60:
                node = shown_as(node.target.id)
        body.append(node)
        if getattr(node, "module", "") == "typing":
            body.append(ast.parse(PLAIN))
    return "\n".join(map(ast.unparse, body))


package, out = sys.argv[1:]
warnings.simplefilter("error")
with tempfile.TemporaryDirectory() as folder:
    made = Path(shutil.copytree(package, f"{folder}/grinterop"))
    stub = made / "_grinterop.pyi"
    stub.with_suffix(".py").write_text(module_of(stub.read_text("utf-8")), "utf-8")
    stub.unlink()
    first = made / "__init__.py"
    first.write_text(first.read_text("utf-8").partition("\n# The names of 0.2.0.")[0], "utf-8")
    sys.path.insert(0, folder)
    pdoc.render.configure(docformat="google", show_source=False)
    pdoc.pdoc("grinterop", output_directory=Path(out))
