"""The entry point: language, command tree, and the one place where an error becomes a sentence.

Nothing heavy is imported here; a verb imports what it needs when it runs.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

import click

from celosia import messages
from celosia.cli._shell import LocalGroup, language_option, usage_sentence
from celosia.cli._verbs import Verbs, short_help
from celosia.errors import CelosiaError, InternalFault, OutputLost, WrongUse

_INTERRUPTED = 130


class _ReaderGone(Exception):
    """Whoever read our words has enough of them. Told apart, for click would end with 1 and call it a failure."""


class _Walk(LocalGroup):
    """All the verbs, listed without making any."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _ReaderGone from None

    def short_helps(self) -> list[tuple[str, str]]:
        return [(name, short_help(name)) for name in self.commands]


def build_cli(language: str) -> click.Group:
    """The command tree, speaking a language."""
    messages.use(language)
    return _Walk(
        "celosia",
        commands=Verbs(messages.language()),
        help=messages.text("cli.celosia.help"),
        params=[language_option(), _version_option()],
        no_args_is_help=False,
        options_metavar=messages.text("cli.options_metavar"),
        subcommand_metavar=messages.text("cli.subcommand_metavar"),
        context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    _usable_streams()
    if arguments is None:  # a process that is ours alone
        sys.meta_path.insert(0, _NoPandas())
    if "PYTHONWARNINGS" not in os.environ:
        warnings.simplefilter("ignore")  # libraries' warnings are for us, not for the person at the terminal
    cli = build_cli(_asked_language(given) or messages.preferred())
    try:
        asked = given if _names_a_command(given) else [*given, "--help"]
        return int(cli.main(args=asked, prog_name="celosia", standalone_mode=False) or 0)
    except CelosiaError as error:
        return _tell(error, given)
    except click.UsageError as error:
        return _tell(WrongUse(detail=usage_sentence(error)), given)
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except _ReaderGone:
        _let_go(sys.stdout)
        return 0
    except Exception as fault:  # noqa: BLE001 - the last door: whatever it quotes stays inside
        if isinstance(fault, OSError) and _said(fault):
            _let_go(sys.stdout)
            return _tell(OutputLost(), ())
        return _tell(InternalFault(where=_place(fault)), given)


class _NoPandas:
    """What says that pandas is not installed: a finder of modules that knows only this.

    Arrow loads it by itself wherever it is, a second before anything begins; of what a command uses, Spark alone
    asks for it.
    """

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Nothing of other modules."""
        if name == "pandas" and "pyspark" not in sys.modules:
            raise ModuleNotFoundError(name, name=name)


def _tell(error: CelosiaError, given: Sequence[str]) -> int:
    if "--json" in given:
        from celosia.cli._show import speaks_unicode

        report = {"format": "celosia/error/1", "code": error.code, "message": str(error), "fields": error.values}
        with _spoken(sys.stdout):
            click.echo(json.dumps(report, ensure_ascii=not speaks_unicode(), default=str))
    with _spoken(sys.stderr):
        click.echo(messages.text("cli.error", sentence=str(error)), err=True)
    return error.exit_code


def _usable_streams() -> None:
    """A stream that was closed swallows its words; one that lacks a letter shows a mark instead of failing."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - it lives as long as we do
        elif isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


def _said(fault: OSError) -> bool:
    """Whether it was raised by saying something: a full disk behind stdout, and no file of ours."""
    return traceback.extract_tb(fault.__traceback__)[-1].filename == click.utils.__file__


def _let_go(stream: TextIO) -> None:
    """What is still to be said goes nowhere, so that Python does not try again when it ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextlib.contextmanager
def _spoken(stream: TextIO) -> Iterator[None]:
    """The exit code tells what happened even where no words can."""
    try:
        yield
    except OSError:
        _let_go(stream)


def _place(fault: BaseException) -> str:
    """Where our own fault happened: file, line and kind, never its words."""
    frame = traceback.extract_tb(fault.__traceback__)[-1]
    return f"{os.path.basename(frame.filename)}:{frame.lineno} {type(fault).__name__}"


def _asked_language(given: Sequence[str]) -> str | None:
    for position, word in enumerate(given):
        if word == "--lang" and position + 1 < len(given):
            return given[position + 1]
        if word.startswith("--lang="):
            return word.removeprefix("--lang=")
    return None


def _names_a_command(given: Sequence[str]) -> bool:
    """Whether anything but a language is asked for; with nothing asked, the help is shown."""
    words = [word for i, word in enumerate(given) if word != "--lang" and (i == 0 or given[i - 1] != "--lang")]
    return any(not word.startswith("--lang=") for word in words)


def _version_option() -> click.Option:
    def show(context: click.Context, _: click.Parameter, asked: bool) -> None:
        if asked:
            from importlib.metadata import version

            click.echo(f"celosia {version('celosia')}")
            context.exit()

    return click.Option(
        ["--version"], is_flag=True, expose_value=False, is_eager=True, callback=show,
        help=messages.text("cli.version"),
    )  # fmt: skip
