"""Makes the pages that are drawn from the code itself, in both languages.

    errors.md        every error code with its sentence and way out, from the catalogue
    commands.md      every command with its help, from the command tree
    requirements.md  every requirement with the tests that prove it, from the marks on the tests
    techniques.md    every technique with its declared parameters
    crosswalk.md     what laws and standards ask beside what of a release answers it
    tutorial-python.md   the notebook of examples/notebooks, with what its cells show (docs/notebooks.py executes it)
    api.md           every public name of the library, from its signature and docstring; groups and Spanish in api.toml
    architecture.md  only its table of packages, from docs/packages.toml

Run by `make pages`; a test compares the result with the files kept here. Knows nothing of the site generator.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import re
import sys
import tomllib
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import click

import celosia
from celosia import errors, messages
from celosia.cli import build_cli
from celosia.model.reports.crosswalk import CrosswalkLine
from celosia.pipeline.assessment.apply_techniques import describe_techniques
from celosia.protocols.crosswalk import load_crosswalk, pointer_text

sys.path.insert(0, str(Path(__file__).resolve().parent))
from notebooks import page_lines
from pictures import before_after_picture, packages_picture, value_picture

DOCS = Path(__file__).resolve().parent
TESTS = DOCS.parent / "tests"

NORMS = {
    "M": ("MINSAL/DEIS (Chile)", "MINSAL/DEIS (Chile)"),
    "A": ("ATENEA (Bogotá), guía G3_DE", "ATENEA (Bogotá), guide G3_DE"),
    "P": ("Panagora / USAID-Colombia MEL", "Panagora / USAID-Colombia MEL"),
    "Y": ("YAPÓ (Paraguay)", "YAPÓ (Paraguay)"),
}

WORDS = {
    "es": {
        "made": "Página generada por `make pages`: no se edita a mano.",
        "errors": "Errores",
        "errors_intro": "Cada error tiene un código, que aparece con `--json`, y una frase que dice qué pasa, dónde y "
        "cómo salir. Los nombres entre ‹ › son campos que se completan: columnas, archivos, cantidades y umbrales, "
        "nunca un valor de los datos.",
        "exit": "código de salida",
        "WrongUse": "Uso incorrecto",
        "BadInput": "Datos o archivos que no se pueden usar",
        "Refusal": "Una regla lo impide, o no hay solución",
        "InternalFault": "Falla nuestra",
        "commands": "Comandos",
        "commands_intro": "La ayuda de cada comando, tal como la muestra `celosia COMANDO --help`. Códigos de salida: "
        "0 hecho; 1 una regla lo impide o no hay solución; 2 uso incorrecto o datos que no se pueden usar; 3 falla "
        "nuestra; 4 (`verify`) la publicación está íntegra y usted no ha dicho a quiénes conoce.",
        "requirements": "Requisitos",
        "requirements_intro": "Lo que piden las cuatro normas, en nuestras palabras, y la prueba que lo demuestra. "
        "Un requisito de una capacidad terminada sin prueba ni motivo detiene la construcción.",
        "techniques": "Técnicas",
        "techniques_intro": "Cada tratamiento que nombran las normas es un paso declarado: con `celosia apply` sobre "
        "un archivo suelto, o en los `[[steps]]` de celosia.toml, en orden, antes de la búsqueda. La misma semilla da "
        "los mismos bytes. Lo faltante queda faltante y lo enmascarado, enmascarado, salvo que la técnica diga otra "
        "cosa.",
        "crosswalk": "Leyes y estándares",
        "crosswalk_intro": "Cada obligación de la ley 21.719 de Chile, ISO/IEC 27559, NIST SP 800-188, la guía del ICO "
        "y los tres riesgos de WP216, y la cifra, el documento o la firma de una publicación que la responde. Lo que "
        "no se responde se dice; de lo que no se leyó no se dice nada. Es la tabla de `celosia protocol crosswalk`; "
        "con la carpeta de una publicación (`celosia protocol crosswalk CARPETA`), esa orden la comprueba y anota sus "
        "cifras, y con `--json` entrega `celosia/crosswalk/1`. Las reglas que la ley 21.719 permite medir son el "
        "protocolo `ley21719`, que se usa junto a otro: `celosia init --protocol minsal,ley21719`.",
        "api": "La biblioteca, nombre por nombre",
        "api_intro": "Cada nombre público de `celosia`, con su firma y lo que hace. Los ejemplos se ejecutan en las "
        "pruebas, en este orden. Donde una firma termina en `**reading` se acepta además cómo leer un archivo: "
        "`encoding`, `delimiter`, `quote`, `header`, `decimal`, `sheet`, `table`, `drop`, `rename_duplicates`, y "
        "`engine` y `memory`. Todo informe tiene `to_frame()`, `to_dict()` y `plot()`: vea "
        "[los resultados](python-results.md). Los tratamientos están en [Técnicas](techniques.md).",
        "parameters": "| parámetro | acepta | por omisión | para qué sirve |",
        "required": "obligatorio",
        "chance": "Usa el azar: su semilla queda en `private/` y nunca entra en una publicación.",
        "columns": "| id | sección | requisito | capacidad | prueba |",
        "capabilities": "Capacidades",
        "state": "| capacidad | estado | requisitos | con prueba |",
        "pending": "pendiente",
        "finished": "terminada",
        "reason": "motivo",
        "readings": "Lecturas",
        "readings_intro": "Donde una norma se contradice o deja algo abierto, celosia la lee así.",
        "reading_columns": "| id | lectura | prueba |",
        "package_columns": "| paquete | qué sabe | puede importar | bibliotecas |",
        "packages_note": "Un nombre vale por el paquete y todo lo que contiene. Todo módulo de un paquete puede "
        "importar su `errors.py`.",
        "nothing": "nada nuestro",
        "standard": "solo la estándar",
        "any": "–",
    },
    "en": {
        "made": "Page made by `make pages`: not edited by hand.",
        "errors": "Errors",
        "errors_intro": "Every error has a code, shown with `--json`, and a sentence that says what is wrong, where, "
        "and the way out. Names between ‹ › are fields that are filled in: columns, files, counts and thresholds, "
        "never a value of the data.",
        "exit": "exit code",
        "WrongUse": "Wrong use",
        "BadInput": "Data or files that cannot be used",
        "Refusal": "A rule says no, or there is no solution",
        "InternalFault": "Our own fault",
        "commands": "Commands",
        "commands_intro": "The help of every command, as `celosia COMMAND --help` shows it. Exit codes: 0 done; 1 a "
        "rule says no or there is no solution; 2 wrong use or data that cannot be used; 3 our own fault; 4 "
        "(`verify`) the release is intact and you have not said whom you know.",
        "requirements": "Requirements",
        "requirements_intro": "What the four norms ask, in our words, and the test that proves it. A requirement of a "
        "finished capability with neither test nor reason stops the build.",
        "techniques": "Techniques",
        "techniques_intro": "Every treatment the norms name is a declared step: with `celosia apply` on a single file, "
        "or in the `[[steps]]` of celosia.toml, in order, before the search. The same seed gives the same bytes. What "
        "is missing stays missing and what is masked stays masked, unless the technique says otherwise.",
        "crosswalk": "Laws and standards",
        "crosswalk_intro": "Each obligation of Chile's law 21.719, ISO/IEC 27559, NIST SP 800-188, the ICO's guidance "
        "and the three risks of WP216, and the figure, document or signature of a release that answers it. What is not "
        "answered is said; of what was not read nothing is said. It is the table of `celosia protocol crosswalk`; with "
        "the folder of a release (`celosia protocol crosswalk FOLDER`) that command verifies it and fills in its "
        "figures, and with `--json` it gives `celosia/crosswalk/1`. The rules that can be measured of law 21.719 are "
        "the protocol `ley21719`, used beside another: `celosia init --protocol minsal,ley21719`.",
        "api": "The library, name by name",
        "api_intro": "Every public name of `celosia`, with its signature and what it does. The examples are executed "
        "by the tests, in this order. Where a signature ends in `**reading`, how to read a file is accepted too: "
        "`encoding`, `delimiter`, `quote`, `header`, `decimal`, `sheet`, `table`, `drop`, `rename_duplicates`, and "
        "`engine` and `memory`. Every report has `to_frame()`, `to_dict()` and `plot()`: see "
        "[the results](python-results.md). The treatments are in [Techniques](techniques.md).",
        "parameters": "| parameter | accepts | by default | what it is for |",
        "required": "required",
        "chance": "Draws by chance: its seed stays in `private/` and never enters a release.",
        "columns": "| id | section | requirement | capability | proof |",
        "capabilities": "Capabilities",
        "state": "| capability | state | requirements | with a test |",
        "pending": "pending",
        "finished": "finished",
        "reason": "reason",
        "readings": "Readings",
        "readings_intro": "Where a norm contradicts itself or leaves something open, celosia reads it so.",
        "reading_columns": "| id | reading | proof |",
        "package_columns": "| package | what it knows | may import | libraries |",
        "packages_note": "A name stands for the package and everything below it. Every module of a package may import "
        "its `errors.py`.",
        "nothing": "nothing of ours",
        "standard": "standard only",
        "any": "–",
    },
}


def pages() -> dict[Path, str]:
    """Every generated page with its text."""
    makers = {
        "errors.md": errors_page,
        "commands.md": commands_page,
        "requirements.md": requirements_page,
        "techniques.md": techniques_page,
        "crosswalk.md": crosswalk_page,
        "api.md": api_page,
        "architecture.md": architecture_page,
        "pictures/packages.svg": packages_picture,
        "pictures/value.svg": value_picture,
        "pictures/before-after.svg": before_after_picture,
    }
    made = {DOCS / language / name: make(language) for language in messages.LANGUAGES for name, make in makers.items()}
    for language in messages.LANGUAGES:
        lines, pictures = page_lines(language)
        made[DOCS / language / "tutorial-python.md"] = _joined(lines)
        made |= {DOCS / language / "pictures" / name: text for name, text in pictures.items()}
    return made


def _opening(language: str, name: str) -> list[str]:
    words = WORDS[language]
    return [f"# {words[name]}", "", words[f"{name}_intro"], "", f"*{words['made']}*", ""]


def _joined(lines: list[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"


# --- errors -----------------------------------------------------------------------------------------


def errors_page(language: str) -> str:
    """All errors by family, each with its exit code and its sentence."""
    for package in pkgutil.walk_packages(celosia.__path__, "celosia."):
        if package.name.endswith(("errors", ".storage")):
            importlib.import_module(package.name)
    lines = _opening(language, "errors")
    for family in (errors.WrongUse, errors.BadInput, errors.Refusal, errors.InternalFault):
        lines += [f"## {WORDS[language][family.__name__]} ({WORDS[language]['exit']} {family.exit_code})", ""]
        for kind in sorted(_descendants(family), key=lambda each: each.code):
            lines += [f"### `{kind.code}` {{ #{kind.code} }}", "", sentence(kind, language), ""]
    return _joined(lines)


def _descendants(root: type[errors.CelosiaError]) -> Iterator[type[errors.CelosiaError]]:
    yield root
    for child in root.__subclasses__():
        yield from _descendants(child)


def sentence(kind: type[errors.CelosiaError], language: str) -> str:
    """The sentence of an error with its fields shown by name."""
    return re.sub(r"\{(\w+)[^}]*\}", r"‹\1›", messages.section(language, "errors")[kind.code])


# --- commands ---------------------------------------------------------------------------------------


def commands_page(language: str) -> str:
    """The help of every command, in the order of the walk."""
    lines = _opening(language, "commands")
    with messages.speaking(language):
        for path, shown in helps(build_cli(language)):
            lines += [f"## {path}", "", "```text", shown, "```", ""]
    return _joined(lines)


def helps(command: click.Command, parent: click.Context | None = None) -> Iterator[tuple[str, str]]:
    """(command path, help) of a command and everything below it."""
    name = command.name or "celosia"
    settings = {**command.context_settings, "terminal_width": 100, "max_content_width": 100}
    context = click.Context(command, info_name=name, parent=parent, **settings)
    yield context.command_path, command.get_help(context).rstrip()
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            yield from helps(command.commands[below], context)


# --- techniques --------------------------------------------------------------------------------------


def techniques_page(language: str) -> str:
    """Every technique: what it does, its parameters, the requirements it answers."""
    words, lines = WORDS[language], _opening(language, "techniques")
    with messages.speaking(language):
        for one in describe_techniques():
            lines += [f"## {messages.text('techniques.name.' + one['name'])} {{ #{one['name']} }}", ""]
            lines += [f"`{one['name']}`. {messages.text('techniques.summary.' + one['name'])}", ""]
            lines += [words["chance"], ""] if one["random"] else []
            lines += [words["parameters"], "|---|---|---|---|"]
            lines += [_parameter_row(name, param, words) for name, param in one["parameters"].items()]
            lines.append("")
    return _joined(lines)


def crosswalk_page(language: str) -> str:
    """Every text of the crosswalk: what it asks, what answers, how it was read."""
    lines = _opening(language, "crosswalk")
    columns = ("place", "asks", "coverage", "answers", "reading")
    with messages.speaking(language):
        lines += [messages.text("crosswalk.note"), ""]
        for text in load_crosswalk():
            lines += [f"## {text.source} {{ #{text.id} }}", ""]
            lines += ["| " + " | ".join(messages.text(f"crosswalk.header.{name}") for name in columns) + " |"]
            lines += ["|---|---|---|---|---|", *(_crosswalk_row(text.id, line) for line in text.lines), ""]
    return _joined(lines)


def _crosswalk_row(text: str, line: CrosswalkLine) -> str:
    key = f"crosswalk.{text}.{line.id}"
    answers = "<br>".join([messages.text(f"{key}.how"), *(f"· {pointer_text(each)}" for each in line.pointers)])
    coverage = messages.text(f"crosswalk.coverage.{line.coverage}")
    reading = messages.text(f"crosswalk.reading.{line.reading}")
    return f"| {line.place} | {messages.text(f'{key}.asks')} | {coverage} | {answers} | {reading} |"


def _parameter_row(name: str, param: dict, words: dict[str, str]) -> str:
    accepts = ", ".join(f"`{choice}`" for choice in param["choices"])
    accepts = accepts or messages.text(f"parameters.kind.{param['kind']}")
    if param["minimum"] is not None:
        accepts += " " + messages.text("parameters.at_least", minimum=param["minimum"])
    default = words["required"] if param["required"] else _default(param["default"])
    meaning = param["meaning"].replace("|", "\\|")
    return f"| `{name}` | {accepts} | {default} | {meaning} |"


def _default(value: object) -> str:
    return "–" if value in (None, [], "") else f"`{str(value).lower() if isinstance(value, bool) else value}`"


# --- the library ------------------------------------------------------------------------------------

# Names that stand in annotations and mean nothing to a reader.
_KNOWN_AS = {"Names": "str | Sequence[str]", "PathArg": "str | Path", "ProjectArg": "str | Path | Project"}


def api_page(language: str) -> str:
    """Every public name by group: its signature, what it does, the members of the classes, and an example."""
    lines = _opening(language, "api")
    document = tomllib.loads((DOCS / "api.toml").read_text("utf-8"))
    for group in document["groups"]:
        lines += [f"## {group[language]}", ""]
        lines += ["```python", group["example"].strip(), "```", ""] if group["example"] else []
        for name in group["names"]:
            lines += _api_lines(name, document[language])
    return _joined(lines)


def _api_lines(name: str, stated: dict[str, str]) -> list[str]:
    """A function with its signature, or a class with its members; what api.toml says goes before the docstring."""
    thing = getattr(celosia, name)
    text = stated.get(name) or inspect.getdoc(thing) or ""
    summary, _, rest = text.partition("\n\n")
    lines = [f"### `{name}` {{ #{name} }}", "", _one_line(summary), ""]
    if not inspect.isclass(thing):
        lines += ["```python", _signature(name, thing), "```", ""]
    lines += [_one_line(rest), ""] if rest else []
    if inspect.isclass(thing):
        members = [(each, stated.get(f"{name}.{each}", own)) for each, own in api_members(thing)]
        lines += ["| | |", "|---|---|", *(f"| `{each}` | {_one_line(own)} |" for each, own in members), ""]
    return lines


def api_members(kind: type) -> list[tuple[str, str]]:
    """The public fields, properties and methods of a class itself, in their order."""
    fields = [field.name for field in dataclasses.fields(kind) if field.name != "material"]
    own = [name for name, member in vars(kind).items() if isinstance(member, property) or inspect.isfunction(member)]
    inherited = {"summary", "records", "words", "as_dict", "drawings"}
    names = [*fields, *(name for name in own if not name.startswith("_") and name not in inherited)]
    return [(name, inspect.getdoc(getattr(kind, name, None)) or "" if name not in fields else "") for name in names]


def _signature(name: str, function: object) -> str:
    """A call as it is written: one parameter a line, with what it takes and its default."""
    lines = [f"{name}("]
    parameters = inspect.signature(function).parameters.values()
    starred = False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            lines.append("    *,")
            starred = True
        prefix = {parameter.VAR_KEYWORD: "**", parameter.VAR_POSITIONAL: "*"}.get(parameter.kind, "")
        starred = starred or prefix == "*"
        annotation = re.sub(r"\b[A-Z]\w+\b", lambda word: _KNOWN_AS.get(word[0], word[0]), str(parameter.annotation))
        default = "" if parameter.default is parameter.empty else f" = {_written(parameter.default)}"
        lines.append(f"    {prefix}{parameter.name}: {annotation}{default},")
    return "\n".join([*lines, ")"])


def _written(value: object) -> str:
    """A default as a caller would write it."""
    return repr(str(value)) if isinstance(value, str) else str(value) if isinstance(value, Fraction) else repr(value)


def _one_line(text: str) -> str:
    return " ".join(text.split())


# --- architecture -----------------------------------------------------------------------------------

TABLE_OF_PACKAGES = re.compile(r"(<!-- packages[^>]*-->\n).*?(<!-- end of packages -->\n)", flags=re.S)


def architecture_page(language: str) -> str:
    """The page as it is kept, with its table of packages made anew."""
    page = (DOCS / language / "architecture.md").read_text("utf-8")
    table = "\n".join(["", *_packages_lines(language), "", ""])
    text, count = TABLE_OF_PACKAGES.subn(lambda match: match[1] + table + match[2], page)
    if count != 1:
        raise ValueError("architecture.md must mark the place of its table of packages once")
    return text


def _packages_lines(language: str) -> list[str]:
    document, words = tomllib.loads((DOCS / "packages.toml").read_text("utf-8")), WORDS[language]
    rows = [
        f"| `{name}` | {package[language]} | {', '.join(package['may_import']) or words['nothing']} "
        f"| {_libraries(package, words)} |"
        for name, package in document["packages"].items()
    ]
    groups = [f"- *{name}*: {', '.join(members)}" for name, members in document["groups"].items()]
    return [words["package_columns"], "|---|---|---|---|", *rows, "", words["packages_note"], "", *groups]


def _libraries(package: dict, words: dict[str, str]) -> str:
    if "libraries" not in package:
        return words["any"]
    return ", ".join(package["libraries"]) or words["standard"]


# --- requirements -----------------------------------------------------------------------------------


def declared() -> dict[str, dict]:
    """The requirements and capabilities as docs/requirements.toml states them."""
    return tomllib.loads((DOCS / "requirements.toml").read_text("utf-8"))


def proofs() -> dict[str, list[str]]:
    """Requirement id → tests that carry its mark, read from the source of the tests."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for name, ids in _marked(ast.parse(path.read_text("utf-8"))):
            where = path.relative_to(TESTS).as_posix() + (f"::{name}" if name else "")
            for each in ids:
                found.setdefault(each, []).append(where)
    return {each: sorted(set(where)) for each, where in found.items()}


def _marked(tree: ast.Module) -> Iterator[tuple[str, list[str]]]:
    for node in tree.body:
        name = node.name if isinstance(node, ast.FunctionDef | ast.ClassDef) else ""
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "requirement":
                yield name, [str(word.value) for word in call.args if isinstance(word, ast.Constant)]


def requirements_page(language: str) -> str:
    """Capabilities with their state, then every requirement with its proof."""
    stated, proved, words = declared(), proofs(), WORDS[language]
    lines = _opening(language, "requirements")
    lines += [f"## {words['capabilities']}", "", words["state"], "|---|---|---|---|"]
    for name, capability in stated["capabilities"].items():
        ids = [each for each, asked in stated["requirements"].items() if name in asked["capability"]]
        with_test = sum(each in proved for each in ids)
        lines.append(f"| {capability[language]} | {words[capability['state']]} | {len(ids)} | {with_test} |")
    for letter, titles in NORMS.items():
        lines += ["", f"## {titles[messages.LANGUAGES.index(language)]}", "", words["columns"], "|---|---|---|---|---|"]
        for each, asked in stated["requirements"].items():
            if each.startswith(letter):
                lines.append(_row(each, asked, stated["capabilities"], proved.get(each, []), language))
    lines += ["", f"## {words['readings']}", "", words["readings_intro"], "", words["reading_columns"], "|---|---|---|"]
    for each, reading in stated["readings"].items():
        lines.append(f"| {each} | {reading[language]} | {_proof(reading, proved.get(each, []), language)} |")
    return _joined(lines)


def _row(each: str, asked: dict, capabilities: dict, tests: list[str], language: str) -> str:
    titles = ", ".join(capabilities[name][language].partition(":")[0] for name in asked["capability"])
    return f"| {each} | {asked['section']} | {asked[language]} | {titles} | {_proof(asked, tests, language)} |"


def _proof(asked: dict, tests: list[str], language: str) -> str:
    shown = [f"`{where}`" for where in tests]
    if reason := asked.get(f"reason_{language}"):
        shown.append(f"{WORDS[language]['reason']}: {reason}")
    return "<br>".join(shown) or WORDS[language]["pending"]


def main() -> int:
    """Write every page that changed."""
    for path, text in pages().items():
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            print(path.relative_to(DOCS.parent))
    return 0


if __name__ == "__main__":
    sys.exit(main())
