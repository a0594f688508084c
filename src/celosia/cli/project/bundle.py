"""`celosia bundle`: a folder for machines without internet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from celosia import messages
from celosia.bundle.platforms import NAMES, VERSIONS
from celosia.cli.shell import PATH, build_command, option
from celosia.cli.show import print_report, say

if TYPE_CHECKING:
    from celosia.bundle.make_bundle import BundleReport


def command() -> click.Command:
    """The command."""
    params = [
        option("bundle", "--platform", type=click.Choice(NAMES), required=True),
        option("bundle", "--into", type=PATH, required=True),
        option("bundle", "--python", type=click.Choice(VERSIONS)),
    ]
    return build_command("bundle", bundle, params)


def bundle(platform: str, into: Path, python: str | None, as_json: bool) -> None:
    """Make the folder, saying on stderr what is being done."""
    from celosia.bundle.make_bundle import make_bundle

    def announce(stage: str) -> None:
        click.echo(messages.text(f"bundle.stage.{stage}"), err=True)

    print_report(make_bundle(into, platform, python, announce), as_json, _show)


def _show(report: BundleReport) -> None:
    say(
        "cli.bundle.done",
        path=report.path,
        packages=report.packages,
        megabytes=report.megabytes,
        opener=report.opener,
    )
