"""The naming rules and who breaks them: lone participles, vague variables, private names of other modules.

`python -m tests.architecture.naming` lists every offender of src/celosia by file and line; with words, only the rules
of these names (participles, variables, private, format).
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

from tests.architecture.source_files import Module, functions, imported_base, imports_of, module_names, modules

IRREGULAR_PARTICIPLES = frozenset(
    """
    become begun bent borne born bought bound bred broken brought built caught chosen come cut dealt done drawn fallen
    fed felt fled forgotten found given gone grown heard held hidden hit hung hurt kept known laid led left lent lost
    made meant met paid put read risen run said seen sent set shown shut sold sought spent split spoken spread stood
    struck sworn taken taught thought thrown told torn understood won worn woven written
    """.split()
)
# Words that look like a participle and are a verb in the imperative or no participle at all.
NOT_PARTICIPLES = frozenset(
    "bleed breed come cut embed exceed feed hit let need proceed put read run seed set shut speed split spread".split()
)
# States that a property may answer, as an adjective of its object: `if cell.hidden`.
STATES = frozenset("blocked broken done ended hidden limited masked measured met published suppressed written".split())
VAGUE_VARIABLES = frozenset({"one", "found", "told", "held", "kept"})
FORMAT_REFUSAL = re.compile(r"#\s*fmt:\s*(skip|off)")


def is_lone_participle(name: str) -> bool:
    """Whether a name is a past participle and nothing else: `gathered`, `_told`."""
    word = name.strip("_")
    if not word or "_" in word or word in NOT_PARTICIPLES:
        return False
    return word in IRREGULAR_PARTICIPLES or (len(word) > 3 and word.endswith("ed"))


def participle_functions(module: Module) -> list[str]:
    """Functions and methods whose name is a lone participle."""
    return [
        f"{module.where}:{node.lineno} def {node.name}"
        for node in functions(module.tree)
        if is_lone_participle(node.name) and not _is_state(node)
    ]


def _is_state(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
    return node.name in STATES and bool(decorators & {"property", "cached_property"})


def vague_variables(module: Module) -> list[str]:
    """Variables and parameters whose name says nothing of what they hold."""
    bindings = [(node.lineno, node.id) for node in ast.walk(module.tree) if _is_assigned(node)]
    bindings += [(node.lineno, node.arg) for node in ast.walk(module.tree) if isinstance(node, ast.arg)]
    return [f"{module.where}:{line} {name}" for line, name in sorted(bindings) if name in VAGUE_VARIABLES]


def _is_assigned(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def format_refusals(module: Module) -> list[str]:
    """Lines that keep the formatter away."""
    lines = module.path.read_text("utf-8").splitlines()
    return [f"{module.where}:{number} fmt" for number, line in enumerate(lines, 1) if FORMAT_REFUSAL.search(line)]


def foreign_private_names(module: Module) -> list[str]:
    """Private names of other modules of ours that a module imports, or reaches through an imported module."""
    names = [
        (line, name)
        for line, name in imports_of(module)
        if name.startswith("celosia.") and name not in module_names() and is_private(name.rpartition(".")[2])
    ]
    return [f"{module.where}:{line} {name}" for line, name in [*names, *_private_attributes(module)]]


def _private_attributes(module: Module) -> Iterator[tuple[int, str]]:
    """(line, name) of every `other._name` where `other` is an imported module of ours."""
    known = _imported_modules(module)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in known:
            name = f"{known[node.value.id]}.{node.attr}"
            if is_private(node.attr) and name not in module_names():
                yield node.lineno, name


def _imported_modules(module: Module) -> dict[str, str]:
    """The modules of ours that a module imports, by the name it calls them."""
    known = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom):
            names = {alias.asname or alias.name: f"{imported_base(module, node)}.{alias.name}" for alias in node.names}
            known |= {local: name for local, name in names.items() if name in module_names()}
    return known


def is_private(name: str) -> bool:
    """Whether a name begins with one underscore."""
    return name.startswith("_") and not name.startswith("__")


RULES = {
    "participles": participle_functions,
    "variables": vague_variables,
    "private": foreign_private_names,
    "format": format_refusals,
}


def offenders(rule: str) -> list[str]:
    """Every place in the source that breaks a rule."""
    return [place for module in modules() for place in RULES[rule](module)]


def main(words: list[str]) -> int:
    """Print the offenders of each rule."""
    for rule in words or RULES:
        places = offenders(rule)
        print("\n".join([f"{rule}: {len(places)}", *(f"    {place}" for place in places)]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
