"""click in two languages: headings, options and usage errors are read from the catalogue.

Knows click and the keys of the catalogue. Ignores what a command does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from celosia import messages
from celosia.system.paths import usable_path


class _PathType(click.Path):
    """A path by which this system opens what is named, whatever its length and its spelling."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return usable_path(Path(os.fsdecode(super().convert(value, param, ctx))))


PATH = _PathType(path_type=Path)
_RANGES = (click.IntRange, click.FloatRange)


class _Localised(click.Command):
    """A command whose usage, headings and help option speak the catalogue's language."""

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        pieces = " ".join(self.collect_usage_pieces(ctx))
        formatter.write_usage(ctx.command_path, pieces, prefix=messages.text("cli.usage") + " ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        records = [record for option in options if (record := option.get_help_record(ctx)) is not None]
        if records:
            with formatter.section(messages.text("cli.options")):
                formatter.write_dl(records)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        option = super().get_help_option(ctx)
        if option is not None:
            option.help = messages.text("cli.help")
        return option


class LocalGroup(_Localised, click.Group):
    """A group of commands."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        with formatter.section(messages.text("cli.commands")):
            formatter.write_dl(self.short_helps())

    def short_helps(self) -> list[tuple[str, str]]:
        """Each command with the line that says what it does."""
        return [(name, command.get_short_help_str(limit=90)) for name, command in self.commands.items()]

    def list_commands(self, ctx: click.Context) -> list[str]:
        # In the order of the workflow, not of the alphabet.
        return list(self.commands)


def build_command(
    name: str, run: Callable[..., Any], params: Sequence[click.Parameter], key: str = "", has_json: bool = True
) -> click.Command:
    """A command whose help is `cli.<key>.help`; every one accepts --lang, and --json unless it has no report."""
    section = key or name
    json_option = click.Option(["--json", "as_json"], is_flag=True, help=messages.text("cli.json"))
    return _Localised(
        name,
        callback=run,
        params=[*params, *([json_option] if has_json else []), language_option()],
        help=messages.text(f"cli.{section}.help"),
        short_help=messages.text(f"cli.{section}.short"),
        options_metavar=messages.text("cli.options_metavar"),
    )


def build_group(name: str, commands: Sequence[click.Command]) -> click.Group:
    """A group of commands whose help is `cli.<name>.help`."""
    command_group = LocalGroup(
        name,
        params=[language_option()],
        help=messages.text(f"cli.{name}.help"),
        short_help=messages.text(f"cli.{name}.short"),
        options_metavar=messages.text("cli.options_metavar"),
        subcommand_metavar=messages.text("cli.subcommand_metavar"),
    )
    for command in commands:
        command_group.add_command(command)
    return command_group


def option(section: str, *names: str, **settings: Any) -> click.Option:
    """An option whose help is `cli.<section>.<option name>`."""
    key = names[0].split("/")[0].removeprefix("--").replace("-", "_")
    help_text = messages.text(f"cli.{section}.{key}")
    if settings.get("default") is not None and not settings.get("is_flag"):
        help_text += " " + messages.text("cli.default", value=settings["default"])
    kind = settings.get("type")
    if isinstance(kind, _RANGES):
        help_text += " " + messages.text("cli.range", words=_range_words(kind))
    if "metavar" not in settings and not settings.get("is_flag") and "/" not in names[0]:
        settings["metavar"] = _metavar(kind)
    return _LocalOption(list(names), help=help_text, **settings)


class _LocalOption(click.Option):
    """An option whose help states in the catalogue's words its range and whether it is required."""

    def get_help_extra(self, ctx: click.Context) -> Any:
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        if "required" in extra:
            extra["required"] = messages.text("cli.required")
        return extra


def _metavar(kind: Any) -> str | None:
    """The word for what an option takes; a choice shows its own words."""
    if isinstance(kind, click.Choice):
        return None
    metavars: dict[type, str] = {click.IntRange: "whole", click.FloatRange: "number", _PathType: "path"}
    return messages.text(f"cli.metavar.{metavars.get(type(kind), 'text')}")


def _range_words(kind: click.IntRange | click.FloatRange) -> str:
    """What a range accepts, in words."""
    if kind.max is not None:
        return messages.text("cli.ranges.between", low=kind.min, high=kind.max)
    return messages.text("cli.ranges.above" if kind.min_open else "cli.ranges.least", low=kind.min)


def argument(name: str, **settings: Any) -> click.Argument:
    """An argument shown as `cli.argument.<name>`."""
    return click.Argument([name], metavar=messages.text(f"cli.argument.{name}"), **settings)


def project_argument() -> click.Argument:
    """The folder of a project."""
    return argument("project", type=PATH)


def language_option() -> click.Option:
    """`--lang`: read before the command line is built; declared here so that it is accepted and listed."""
    return click.Option(
        ["--lang"], expose_value=False, type=click.Choice(messages.LANGUAGES), help=messages.text("cli.lang")
    )


def names_option(
    section: str, *names: str, choices: Sequence[str] = (), shown: str = "A,B,C", **settings: Any
) -> click.Option:
    """An option that takes names separated by commas; it may be repeated."""

    def split(context: click.Context, param: click.Parameter, texts: Sequence[str]) -> tuple[str, ...]:
        parts = tuple(name.strip() for part in texts for name in part.split(",") if name.strip())
        if choices and not set(parts) <= set(choices):
            raise click.BadParameter("", context, param)
        return parts

    metavar = "|".join(choices) or shown
    return option(section, *names, multiple=True, callback=split, metavar=metavar, **settings)


def usage_sentence(error: click.UsageError) -> str:
    """What is wrong with the command, in the catalogue's words, and how to see its help."""
    path = error.ctx.command_path if error.ctx else "celosia"
    return f"{_mistake_sentence(error)} {messages.text('cli.wrong.see_help', command=path)}"


def _mistake_sentence(error: click.UsageError) -> str:
    if isinstance(error, click.NoSuchOption):
        return messages.text("cli.wrong.option", name=error.option_name)
    if isinstance(error, click.MissingParameter):
        return messages.text("cli.wrong.missing", name=_parameter(error.param))
    if isinstance(error, click.BadParameter):
        return messages.text("cli.wrong.value", name=_parameter(error.param), allowed=_allowed_values(error.param))
    if error.ctx is not None and isinstance(error.ctx.command, click.Group):
        return messages.text("cli.wrong.command", known=", ".join(error.ctx.command.commands))
    return messages.text("cli.wrong.words")


def _parameter(param: click.Parameter | None) -> str:
    if param is None:
        return "?"
    return param.opts[0] if isinstance(param, click.Option) else (param.metavar or param.name or "?")


def _allowed_values(param: click.Parameter | None) -> str:
    kind = param.type if param is not None else None
    if isinstance(kind, click.Choice):
        return ", ".join(str(choice) for choice in kind.choices)
    if isinstance(kind, _RANGES):
        return _range_words(kind)
    if param is not None and param.metavar and "|" in param.metavar:
        return param.metavar.replace("|", ", ")
    is_number = kind is click.INT or kind is click.FLOAT
    return messages.text("cli.wrong.number" if is_number else "cli.wrong.text")
