"""The entry point: language, command tree, and the one place where an error becomes a sentence.

Nothing heavy is imported here; a command imports what it needs when it runs.
"""

from __future__ import annotations

import contextlib
import gc
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
from celosia.cli import code_pages
from celosia.cli.commands import Commands, short_help
from celosia.cli.errors import OutputLost
from celosia.cli.shell import LocalGroup, language_option, usage_sentence
from celosia.errors import CelosiaError, InternalFault, WrongUse
from celosia.version import __version__

_INTERRUPTED = 130
# A plan makes a third of a million objects while it imports what it needs, and nearly all of them stay: looking for
# unreachable ones after every 700 costs some hundredths of its start.
_OBJECTS_BETWEEN_COLLECTIONS = 50_000
_ERRORS_AT_START = ("strict", "surrogateescape")  # as Python opens a stream where nobody asked for anything


class _ReaderGone(Exception):
    """The reader of our output closed it. An exception of its own, because click would exit with 1."""


class _RootGroup(LocalGroup):
    """All the commands, listed without building any."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _ReaderGone from None

    def short_helps(self) -> list[tuple[str, str]]:
        return [(name, short_help(name)) for name in self.commands]


def build_cli(language: str) -> click.Group:
    """The command tree in a language."""
    messages.use(language)
    return _RootGroup(
        "celosia",
        commands=Commands(messages.language()),
        help=messages.text("cli.celosia.help"),
        params=[language_option(), _version_option()],
        no_args_is_help=False,
        options_metavar=messages.text("cli.options_metavar"),
        subcommand_metavar=messages.text("cli.subcommand_metavar"),
        context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _make_streams_usable()
    if arguments is None:
        # The process is ours alone.
        gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
        sys.meta_path.insert(0, _NoPandas())
    if "PYTHONWARNINGS" not in os.environ:
        # Warnings of libraries are for developers, not for the person at the terminal.
        warnings.simplefilter("ignore")
    cli = build_cli(_requested_language(words) or messages.preferred_language())
    try:
        with_help = words if _names_a_command(words) else [*words, "--help"]
        return int(cli.main(args=with_help, prog_name="celosia", standalone_mode=False) or 0)
    except CelosiaError as error:
        return _print_error(error, words)
    except click.UsageError as error:
        return _print_error(WrongUse(detail=usage_sentence(error)), words)
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except _ReaderGone:
        _discard_output(sys.stdout)
        return 0
    except Exception as fault:  # noqa: BLE001 - the outermost handler: what an error quotes is not shown
        if isinstance(fault, OSError) and _is_write_failure(fault):
            _discard_output(sys.stdout)
            return _print_error(OutputLost(), ())
        return _print_error(InternalFault(where=_fault_location(fault)), words)


class _NoPandas:
    """A module finder that reports pandas as not installed.

    Arrow imports pandas wherever it is installed, which costs a second at start; of what a command uses, Spark alone
    needs it.
    """

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Refuse pandas; leave other modules to the other finders."""
        if name == "pandas" and "pyspark" not in sys.modules:
            raise ModuleNotFoundError(name, name=name)


def _print_error(error: CelosiaError, words: Sequence[str]) -> int:
    if "--json" in words:
        from celosia.cli.show import speaks_unicode

        report = {"format": "celosia/error/1", "code": error.code, "message": str(error), "fields": error.values}
        with _ignore_write_errors(sys.stdout):
            click.echo(json.dumps(report, ensure_ascii=not speaks_unicode(), default=str))
    with _ignore_write_errors(sys.stderr):
        click.echo(messages.text("cli.error", sentence=str(error)), err=True)
    return error.exit_code


def _make_streams_usable() -> None:
    """Make a closed stream discard its text, and one that lacks a sign write a plain one instead of failing."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # Open until the process ends.
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8", newline="\n"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper) and stream.errors in _ERRORS_AT_START:
            stream.reconfigure(errors=code_pages.ERRORS)


def _is_write_failure(fault: OSError) -> bool:
    """Whether click raised it while writing: a full disk behind stdout, not behind one of our files."""
    return traceback.extract_tb(fault.__traceback__)[-1].filename == click.utils.__file__


def _discard_output(stream: TextIO) -> None:
    """Send what is still buffered to the null device, so that Python does not try to write it again on exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextlib.contextmanager
def _ignore_write_errors(stream: TextIO) -> Iterator[None]:
    """Go on where a stream cannot be written: the exit code still says what happened."""
    try:
        yield
    except OSError:
        _discard_output(stream)


def _fault_location(fault: BaseException) -> str:
    """Where an internal error happened: file, line and class, never its message."""
    frame = traceback.extract_tb(fault.__traceback__)[-1]
    return f"{os.path.basename(frame.filename)}:{frame.lineno} {type(fault).__name__}"


def _requested_language(arguments: Sequence[str]) -> str | None:
    for position, word in enumerate(arguments):
        if word == "--lang" and position + 1 < len(arguments):
            return arguments[position + 1]
        if word.startswith("--lang="):
            return word.removeprefix("--lang=")
    return None


def _names_a_command(arguments: Sequence[str]) -> bool:
    """Whether anything but a language is asked for; with nothing asked, the help is shown."""
    words = [word for i, word in enumerate(arguments) if word != "--lang" and (i == 0 or arguments[i - 1] != "--lang")]
    return any(not word.startswith("--lang=") for word in words)


def _version_option() -> click.Option:
    def show(context: click.Context, _: click.Parameter, requested: bool) -> None:
        if requested:
            click.echo(f"celosia {__version__}")
            context.exit()

    return click.Option(
        ["--version"], is_flag=True, expose_value=False, is_eager=True, callback=show, help=messages.text("cli.version")
    )
