"""Every kind of parameter reads, refuses and describes itself, whoever declares it."""

from __future__ import annotations

import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from celosia import messages
from celosia.hierarchy.registry import BUILDERS
from celosia.model.parameters import (
    Custom,
    Flag,
    Many,
    Name,
    NotAccepted,
    Number,
    Parameter,
    ParameterForm,
    Ratio,
    Text,
    TomlTable,
    Whole,
    read_parameters,
)
from celosia.model.value_errors import UnknownParameter, WrongParameter
from celosia.risk.criteria import CRITERIA
from celosia.techniques import NAMES, technique

ACCEPTED: list[tuple[Parameter, Any, Any]] = [
    (Flag(), True, True),
    (Whole(minimum=2), 2, 2),
    (Number(), 0.1, Decimal("0.1")),
    (Number(), "12.50", Decimal("12.50")),
    (Ratio(), 0.2, Fraction(1, 5)),
    (Ratio(), "1/3", Fraction(1, 3)),
    (Text(), "", ""),
    (Text(choices=("a", "b"), default=""), "", ""),
    (Name(), "SEXO", "SEXO"),
    (Name(default=""), "", ""),
    (TomlTable(), [{"a": 1}], [{"a": 1}]),
    (Many(Whole(minimum=1)), [1, 2], (1, 2)),
    (Custom(lambda value: value == 7), 7, 7),
]
REFUSED: list[tuple[Parameter, Any]] = [
    (Flag(), 1),
    (Whole(), True),
    (Whole(minimum=2), 1),
    (Whole(maximum=5), 6),
    (Number(), "1e5"),
    (Number(), float("nan")),
    (Number(minimum=0), -1),
    (Ratio(above_minimum=True), 0),
    (Ratio(), Fraction(1, 10**7)),
    (Text(), 1),
    (Text(choices=("a",)), "c"),
    (Name(), ""),
    (TomlTable(), {}),
    (Many(Text()), "a"),
    (Many(Text()), ["a", 1]),
    (Custom(lambda value: value == 7), 8),
]


@pytest.mark.parametrize(("parameter", "value", "read"), ACCEPTED)
def test_a_value_of_the_kind_is_read_exactly(parameter: Parameter, value: Any, read: Any) -> None:
    assert parameter.read(value) == read
    assert type(parameter.read(value)) is type(read)
    assert parameter.accepts(value)


@pytest.mark.parametrize(("parameter", "value"), REFUSED)
def test_any_other_value_is_refused(parameter: Parameter, value: Any) -> None:
    assert not parameter.accepts(value)
    with pytest.raises(NotAccepted):
        parameter.read(value)


def test_words_of_the_command_line_become_values() -> None:
    assert [Flag().from_text(word) for word in ("sí", "NO", "true")] == [True, False, True]
    assert Many(Whole()).from_text("1, 2,3") == [1, 2, 3]
    assert Many(Number()).from_text("0.5,1") == ["0.5", "1"]
    for parameter, word in ((Flag(), "perhaps"), (Whole(), "1.5"), (Many(Whole()), "1,x")):
        with pytest.raises(NotAccepted):
            parameter.from_text(word)


def test_the_error_names_its_owner_and_what_is_accepted_and_never_the_value() -> None:
    params = {"k": Whole(minimum=2), "mode": Text(choices=("a", "b"))}
    assert read_parameters("owner", params, {"k": 3}) == {"k": 3, "mode": None}
    with messages.speaking("en"), pytest.raises(WrongParameter) as fault:
        read_parameters("owner", params, {"mode": "Juana"})
    assert fault.value.values == {"owner": "owner", "parameter": "mode", "allowed": "a, b"}
    with pytest.raises(UnknownParameter):
        read_parameters("owner", params, {"x": 1})
    with pytest.raises(WrongParameter):
        read_parameters("owner", {"k": Whole(required=True)}, {})


def every_declaration() -> list[tuple[str, str, Parameter]]:
    owners: list[tuple[str, Any]] = [(name, technique(name).params) for name in NAMES]
    owners += [(builder.name, builder.all_params) for builder in BUILDERS]
    owners += [(kind.name, kind.parameters) for kind in CRITERIA]
    return [(owner, name, parameter) for owner, params in owners for name, parameter in params.items()]


@pytest.mark.parametrize(("owner", "name", "parameter"), every_declaration(), ids=str)
def test_every_declared_parameter_gives_its_form_its_reference_and_its_sentence(
    owner: str, name: str, parameter: Parameter
) -> None:
    form = parameter.form(name)
    assert isinstance(form, ParameterForm)
    assert pickle.loads(pickle.dumps(form)) == form
    assert (form.kind, form.required, form.choices) == (parameter.kind, parameter.required, parameter.choices)
    assert parameter.required or parameter.default is None or parameter.accepts(parameter.default)
    assert set(parameter.as_dict()) == {"kind", "required", "choices", "minimum", "default"}
    assert parameter.limits
