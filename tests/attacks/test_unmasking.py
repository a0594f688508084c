"""Masks that the rest of the file undoes are found, and their absence is not reported."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.attacks.attack_input import View
from celosia.attacks.disguise import check_digits
from celosia.attacks.traces import traces
from celosia.attacks.unmasking import (
    _true_claims,
    near_numbers,
    recoding_candidates,
    revealed_recodings,
    unmask,
    visible_derivatives,
)

ROWS = 600
RNG = np.random.Generator(np.random.Philox(11))
COMUNAS = [f"{region:02d}{comuna:03d}" for region in range(1, 7) for comuna in range(1, 9)]


def view(persons: Sequence[int] | None = None, **columns: Sequence[str]) -> View:
    """A published file from its columns."""
    labels, codes = [], []
    for cells in columns.values():
        found, code = np.unique(np.array(cells, object).astype(str), return_inverse=True)
        labels.append(tuple(map(str, found)))
        codes.append(code)
    owners = None if persons is None else np.array(persons, np.int64)
    return View(tuple(columns), tuple(labels), np.stack(codes, axis=1).astype(np.int64), owners)


def masked(cells: Sequence[str], every: int = 10) -> list[str]:
    """The same cells, one in so many masked."""
    return ["*" if place % every == 3 else cell for place, cell in enumerate(cells)]


def drawn(values: Sequence[str], size: int = ROWS) -> list[str]:
    """Cells by chance, the same on every run."""
    return [values[place] for place in RNG.integers(len(values), size=size)]


def test_a_masked_region_is_told_by_the_comuna_beside_it() -> None:
    comuna = drawn(COMUNAS)
    [found] = unmask(view(region=masked([code[:2] for code in comuna]), comuna=comuna, sexo=drawn(["F", "M"])))
    assert found.variables == ("region", "comuna")
    assert found.remedy == "comuna"
    assert found.detail["cells"] == found.detail["masked"] == 60
    assert found.rate == 1.0


def test_the_first_digits_tell_the_region_of_a_comuna_never_seen_with_it() -> None:
    comuna = drawn(COMUNAS)
    region = ["*" if code == "03005" else code[:2] for code in comuna]
    [found] = unmask(view(region=region, comuna=comuna))
    assert found.detail["cells"] == region.count("*") > 0


def test_unrelated_columns_undo_nothing() -> None:
    cells = view(a=masked(drawn(["x", "y", "z"])), b=drawn(COMUNAS), c=drawn(["1", "2"]), d=drawn(["p", "q", "r"]))
    assert unmask(cells) == ()


def test_a_column_with_one_usual_value_is_no_disclosure() -> None:
    usual = ["Chile" if place % 50 else "Perú" for place in range(ROWS)]
    assert unmask(view(pais=masked(usual), comuna=drawn(COMUNAS))) == ()


def test_a_group_that_agrees_by_more_than_accident_is_found_in_a_loose_relation() -> None:
    """Only one hospital treats one illness; the others treat all."""
    hospital = drawn(["A", "B", "C", "D"])
    illness = [
        ("F20" if place == "A" else cell)
        for place, cell in zip(hospital, drawn(["F20", "J18", "E11", "I10"]), strict=True)
    ]
    [found] = unmask(view(illness=masked(illness), hospital=hospital))
    hidden = [place for place in range(ROWS) if place % 10 == 3 and hospital[place] == "A"]
    assert found.detail["cells"] == len(hidden)


def test_the_row_of_another_member_tells_the_value_of_the_household() -> None:
    household = [str(1000 + place // 3) for place in range(ROWS)]
    ethnicity = ["abcd"[int(number) * 7 % 4] for number in household]
    [found] = unmask(view(ethnicity=masked(ethnicity), household=household))
    assert found.variables == ("ethnicity", "household")
    assert found.detail["cells"] == 60


def test_a_sequence_number_tells_the_month() -> None:
    number = [str(place) for place in RNG.permutation(ROWS)]
    month = [f"{int(value) * 12 // ROWS + 1:02d}" for value in number]
    [found] = unmask(view(month=masked(month), number=number, sexo=drawn(["F", "M"])))
    assert (found.attack, found.variables) == ("sequence", ("month", "number"))
    assert found.detail["cells"] > 50


def test_the_order_of_the_rows_tells_the_region() -> None:
    region = [f"{place * 8 // ROWS:02d}" for place in range(ROWS)]
    [found] = unmask(view(region=masked(region), sexo=drawn(["F", "M"])))
    assert found.attack == "row_order"


def test_where_the_original_is_known_the_masked_cells_themselves_are_judged() -> None:
    """The masked rows are the exceptions: the guess from the rest is always wrong."""
    comuna = drawn(COMUNAS)
    file = view(region=masked([code[:2] for code in comuna]), comuna=comuna)
    wrong = np.where(file.masked[0][:, None], 0, file.codes)
    assert unmask(file, truth=wrong) == ()


def test_people_are_counted_and_not_rows() -> None:
    comuna = drawn(COMUNAS)
    file = view([place // 100 for place in range(ROWS)], region=masked([c[:2] for c in comuna]), comuna=comuna)
    [found] = unmask(file)
    assert 0 < found.persons <= 6


def test_a_birth_year_tells_the_masked_age_within_one() -> None:
    birth = drawn([str(year) for year in range(1930, 2015)])
    age = [str(2024 - int(year) - place % 2) for place, year in enumerate(birth)]
    [found] = near_numbers(view(age=masked(age), birth=birth, weight=drawn([str(n) for n in range(40, 120)])))
    assert found.columns == ("age", "birth")
    assert found.cells == 60


def test_numbers_that_do_not_go_together_tell_nothing() -> None:
    assert (
        near_numbers(view(age=masked(drawn([str(n) for n in range(90)])), weight=drawn([str(n) for n in range(90)])))
        == ()
    )


UNIVERSE = ["05301", "05302", "05303", "05304", "05401"]


def test_a_mask_among_full_codes_points_to_the_one_that_is_never_shown() -> None:
    original = view(comuna=["05301", "05302", "05303", "05304"] * 5)
    released = view(comuna=["05301", "05302", "05303", "053**"] * 5)
    [found] = revealed_recodings(released, {"comuna": UNIVERSE}, 3, original)
    assert (found.severity, found.cells, found.detail["single"]) == ("high", 5, 5)


def test_a_code_shown_elsewhere_may_still_be_masked_here() -> None:
    original = view(comuna=["05301", "05302", "05303", "05301"] * 5)
    released = view(comuna=["05301", "05302", "05303", "053**"] * 5)
    assert revealed_recodings(released, {"comuna": UNIVERSE}, 3, original) == ()


def test_without_the_original_a_shown_code_excludes_nothing() -> None:
    released = view(comuna=["05301", "05302", "05303", "053**"] * 5)
    assert revealed_recodings(released, {"comuna": UNIVERSE}, 3) == ()


def test_a_mask_over_the_only_code_of_its_kind_is_claimed_whatever_the_method() -> None:
    released = view(comuna=["05301", "05302", "054**", "053**"] * 5)
    [found] = revealed_recodings(released, {"comuna": UNIVERSE}, 3)
    assert (found.severity, found.cells, found.detail["single"]) == ("high", 5, 5)


def assert_claims_are_true(released: View, original: View, universe: Sequence[str]) -> None:
    """Every value that is under a mask is among those that the attack says can be."""
    for truth in (original, None):
        claims = recoding_candidates(released, 0, universe, truth)
        for label, value in zip(released.codes[:, 0], original.codes[:, 0], strict=True):
            assert label not in claims or original.labels[0][value] in claims[label]


@given(st.data())
def test_no_claim_about_a_recoding_is_wrong_whether_by_value_or_by_record(data: st.DataObject) -> None:
    values = data.draw(st.lists(st.sampled_from(UNIVERSE), min_size=1, max_size=30))
    digits = st.sampled_from([0, 2, 3, 5])
    by_value = data.draw(st.fixed_dictionaries(dict.fromkeys(UNIVERSE, digits)))
    by_record = data.draw(st.lists(digits, min_size=len(values), max_size=len(values)))
    for shown in ([by_value[code] for code in values], by_record):
        labels = [(code[:keep]).ljust(5, "*") if keep else "*" for code, keep in zip(values, shown, strict=True)]
        assert_claims_are_true(view(comuna=labels), view(comuna=values), UNIVERSE)


@given(st.data())
def test_every_code_that_is_claimed_to_be_the_only_one_is_the_one(data: st.DataObject) -> None:
    """Also where the source holds codes that no list knows: what is said of a cell is true of its original."""
    known = data.draw(st.lists(st.sampled_from(UNIVERSE), min_size=1, unique=True))
    values = data.draw(st.lists(st.sampled_from(UNIVERSE), min_size=1, max_size=30))
    keeps = data.draw(st.lists(st.sampled_from([2, 3, 5]), min_size=len(values), max_size=len(values)))
    labels = [code[:keep].ljust(5, "*") for code, keep in zip(values, keeps, strict=True)]
    released, original = view(comuna=labels), view(comuna=values)
    for finding in revealed_recodings(released, {"comuna": known}, 3, original):
        claims = _true_claims(released, 0, recoding_candidates(released, 0, known, original), original)
        under = [(int(code), value) for code, value in zip(released.codes[:, 0], values, strict=True)]
        single = [value == claims[code][0] for code, value in under if len(claims.get(code, ())) == 1]
        assert finding.detail["single"] == len(single) == sum(single)


def test_a_code_that_no_list_knows_makes_no_false_claim() -> None:
    """The list knows one code under 054**, and the source holds another one that it does not know."""
    released, original = view(comuna=["05301", "054**"] * 5), view(comuna=["05301", "05499"] * 5)
    assert revealed_recodings(released, {"comuna": ["05301", "05401"]}, 3, original) == ()
    assert len(revealed_recodings(released, {"comuna": ["05301", "05401"]}, 3)) == 1


def test_a_mask_over_every_code_betrays_none() -> None:
    universe = {"comuna": [f"053{number:02d}" for number in range(20)]}
    assert revealed_recodings(view(comuna=["053**"] * 5 + ["054**"] * 5), universe, few=3) == ()


def test_the_chapter_beside_a_masked_diagnosis_is_shown() -> None:
    diagnosis = drawn(["F20", "F32", "J18", "J45", "E11", "I10"])
    file = view(diagnosis=masked(diagnosis), chapter=[code[0] for code in diagnosis], sexo=drawn(["F", "M"]))
    [found] = visible_derivatives(file, ["diagnosis"])
    assert found.columns == ("diagnosis", "chapter")
    hidden = view(diagnosis=masked(diagnosis), chapter=masked([code[0] for code in diagnosis]), sexo=drawn(["F", "M"]))
    assert visible_derivatives(hidden, ["diagnosis"]) == ()


def test_a_chapter_that_was_changed_where_the_diagnosis_is_masked_tells_nothing() -> None:
    diagnosis = drawn(["F20", "F32", "J18", "J45", "E11", "I10"])
    hidden = masked(diagnosis)
    swapped = [("X" if cell == "*" else code[0]) for code, cell in zip(diagnosis, hidden, strict=True)]
    file = view(diagnosis=hidden, chapter=swapped)
    assert visible_derivatives(file, ["diagnosis"], view(diagnosis=diagnosis)) == ()
    honest = view(diagnosis=hidden, chapter=[code[0] for code in diagnosis])
    [found] = visible_derivatives(honest, ["diagnosis"], view(diagnosis=diagnosis))
    assert found.cells == hidden.count("*")


@given(st.integers(0, 2**32 - 1), st.integers(4, 20))
def test_every_masked_number_that_another_is_said_to_tell_is_where_it_says(seed: int, every: int) -> None:
    """Some masked ages do not go with the year beside them: they are not counted."""
    rng = np.random.default_rng(seed)
    years = rng.integers(1930, 2020, 300)
    ages = 2024 - years - rng.integers(0, 2, 300)
    hidden = masked([str(age) for age in ages], every)
    odd = np.array([cell == "*" for cell in hidden]) & (rng.random(300) < 0.5)
    shown = np.where(odd, years + 40, years)
    file = view(edad=hidden, nacimiento=[str(year) for year in shown])
    found = near_numbers(file, truth=view(edad=[str(age) for age in ages]))
    assert sum(finding.cells for finding in found) == int((np.array(hidden) == "*").sum() - odd.sum())


def test_a_column_that_some_values_tell_is_not_derived() -> None:
    """A birth tells the sex, most diagnoses do not: the sex is not made from the diagnosis."""
    cause = [("O80", "A09", "I21", "J18", "K35")[place % 5] for place in range(ROWS)]
    sex = ["M" if code == "O80" else "HM"[place // 5 % 2] for place, code in enumerate(cause)]
    assert visible_derivatives(view(diagnosis=masked(cause), sex=sex), ["diagnosis"]) == ()


def test_traces_of_the_source_are_found() -> None:
    notes = [f"Vino con su hermano número {place} a la consulta" for place in range(ROWS)]
    weight = [f"{place % 90 + 30}" if place % 40 else f"{place % 90 + 30}.125" for place in range(ROWS)]
    file = view(id=[str(place + 1) for place in range(ROWS)], notes=notes, weight=weight, sexo=drawn(["F", "M"]))
    assert [(found.kind, found.columns) for found in traces(file)] == [
        ("sequence_number", ("id",)),
        ("free_text", ("notes",)),
        ("format_trace", ("weight",)),
    ]


def _sequences(cells: list[int]) -> int:
    return sum(found.kind == "sequence_number" for found in traces(view(numero=[str(cell) for cell in cells])))


@pytest.mark.parametrize("rows", [10, 12, 15, 20, 30, 60, 300])
def test_ages_that_differ_by_chance_are_no_sequence(rows: int) -> None:
    """Some ages of few people are all different, in any order; a running number is among as many rows as well."""
    rng = np.random.Generator(np.random.Philox(rows))
    ages = [np.clip(rng.normal(45, 18, rows), 0, 99).astype(int).tolist() for _ in range(100)]
    assert sum(_sequences(sorted(one)) for one in ages) <= 1
    assert _sequences(ages[0]) == 0
    assert _sequences(list(range(1, rows + 1))) == 1
    assert _sequences((rng.permutation(rows) + 70_000).tolist()) == 1  # a release is not in its order


def test_incomes_in_whole_pesos_are_no_sequence() -> None:
    rng = np.random.Generator(np.random.Philox(4))
    assert _sequences(rng.integers(0, 40, 12).tolist()) == 0
    assert _sequences((rng.lognormal(13, 0.6, 3_000)).astype(int).tolist()) == 0
    assert _sequences((rng.integers(400, 1_500, 400) * 1_000).tolist()) == 0


def test_a_sequence_with_gaps_and_a_few_repeated_rows_is_one() -> None:
    rng = np.random.Generator(np.random.Philox(6))
    numbers = np.sort(rng.choice(2_000, 1_000, False))
    assert _sequences([*numbers.tolist(), *numbers[:30].tolist()]) == 1


def test_zeros_in_front_are_no_trace_where_all_codes_have_one_length() -> None:
    codes = ["05302" if place % 30 == 0 else "13101" for place in range(ROWS)]
    assert traces(view(comuna=codes)) == ()
    damaged = ["5302" if place == 7 else code for place, code in enumerate(codes)]
    assert [found.kind for found in traces(view(comuna=damaged))] == ["format_trace"]


def test_ordinary_columns_leave_no_trace() -> None:
    assert traces(view(comuna=drawn(COMUNAS), sexo=masked(drawn(["F", "M"])), edad=drawn(["30 a 39", "40 a 49"]))) == ()


@pytest.mark.parametrize("seed", range(20))
def test_a_column_masked_by_chance_beside_permuted_columns_is_seldom_undone(seed: int) -> None:
    rng = np.random.Generator(np.random.Philox(seed))
    cells = [str(value) for value in rng.integers(0, 5, ROWS)]
    file = view(
        a=masked(cells), b=[str(v) for v in rng.integers(0, 200, ROWS)], c=[str(v) for v in rng.integers(0, 9, ROWS)]
    )
    assert unmask(file) == ()


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", "*", ""]), st.sampled_from(["x", "y", ""])), min_size=1, max_size=30)
)
def test_any_small_file_can_be_attacked(rows: list[tuple[str, str]]) -> None:
    file = view(one=[row[0] for row in rows], two=[row[1] for row in rows])
    for found in unmask(file):
        assert 0 < found.detail["cells"] <= found.detail["masked"]  # type: ignore[operator]
    traces(file)
    near_numbers(file)


@pytest.mark.parametrize("every", [1, 3])
def test_the_beginning_of_a_masked_comuna_still_tells_the_region(every: int) -> None:
    comuna = drawn(COMUNAS)
    blurred = [code[:3] + "**" if place % every == 0 else code for place, code in enumerate(comuna)]
    [found] = unmask(view(region=masked([code[:2] for code in comuna]), comuna=blurred))
    assert found.variables == ("region", "comuna")
    assert found.detail["cells"] == found.detail["masked"] == 60


@pytest.mark.parametrize("written", ["{2:02d}/{1:02d}/{0}", "{0}-{1:02d}-{2:02d}", "{0}{1:02d}{2:02d}"])
def test_a_birth_date_tells_a_masked_age_however_it_is_written(written: str) -> None:
    years = RNG.integers(1930, 2020, size=ROWS).tolist()
    born = [written.format(year, place % 12 + 1, place % 28 + 1) for place, year in enumerate(years)]
    [found] = near_numbers(view(edad=masked([str(2024 - year) for year in years]), nacimiento=born))
    assert (found.columns, found.cells) == (("edad", "nacimiento"), 60)


def test_a_sequence_number_with_letters_before_it_is_one() -> None:
    months = sorted(f"{month:02d}" for month in RNG.integers(1, 13, size=ROWS).tolist())
    order = RNG.permutation(ROWS)
    folio = [f"F-{70_000 + 2 * place}" for place in order]
    cells = view(mes=masked([months[place] for place in order]), folio=folio)
    assert "sequence_number" in {found.kind for found in traces(cells)}
    [found] = unmask(cells)
    assert (found.attack, found.variables) == ("sequence", ("mes", "folio"))


@pytest.mark.parametrize(
    ("space", "cells"),
    [
        ("run", [f"{body}-{digit}" for body, digit in zip(range(9_000_000, 9_000_600), check_digits(
            np.arange(9_000_000, 9_000_600)), strict=True)]),
        ("mail", [f"persona{place}@correo.cl" for place in range(ROWS)]),
        ("name", [f"Rosa Núñez{chr(97 + place % 26)}{chr(97 + place // 26)}" for place in range(ROWS)]),
    ],
)  # fmt: skip
def test_an_identifier_as_it_is_written_is_seen(space: str, cells: list[str]) -> None:
    [found] = [one for one in traces(view(quien=cells, sexo=drawn(["F", "M"]))) if one.kind == "plain_identifier"]
    assert (found.columns, found.cells, found.detail["space"]) == (("quien",), ROWS, space)


def test_names_of_places_and_plain_numbers_are_no_identifiers() -> None:
    cells = view(
        hospital=drawn(["Hospital San Juan", "Hospital Van Buren"]), numero=[str(10**8 + n) for n in range(ROWS)]
    )
    assert "plain_identifier" not in {one.kind for one in traces(cells)}
