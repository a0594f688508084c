"""The MINSAL example: walked to the end, verified elsewhere, refused when tampered with or when a gate is missing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from examples.minsal.make_data import make_data
from examples.minsal.walk import PROJECT, STEPS
from examples.walker import Edit, Step, type_in, walk
from walks.walked import TAMPERINGS, Walked, one_journal_line, until, verified, walked, without

ROWS = 800


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Walked:
    return walked(STEPS, make_data, tmp_path_factory.mktemp("minsal"), ROWS)


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Walked:
    """Everything but the last signature and what comes after."""
    return walked(until(STEPS, "--role head --identity llaves/ana.key --passphrase-file llaves/frase.txt #"), make_data,
                  tmp_path_factory.mktemp("signed"), ROWS)  # fmt: skip
