"""Properties to keep: exactly those asked for, each with its difference, tolerance and verdict."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from celosia.evaluation.contrast import contrast
from celosia.evaluation.errors import ContrastOneKind, ContrastTooSmall, UnknownProperty
from celosia.evaluation.properties import PROPERTIES, PropertyRequest, PropertyRules, check_properties, parse_property
from celosia.evaluation.sample import sample_of

INCOME = ["100", "200", "300", "400", "500", "600"]
SEX = list("HMHMHM")
numbers = st.lists(st.integers(-1000, 1000), min_size=3, max_size=30)


def people(income: list[str] = INCOME, sex: list[str] = SEX, year: tuple[str, ...] = ("2020", "2021", "2022")):
    """Six people of three years."""
    return sample_of({"income": income, "sex": sex, "year": [y for y in year for _ in range(2)]}, {"income"})


@pytest.mark.requirement("A03", "A29")
@pytest.mark.parametrize("asked", [("total",), ("mean", "variance"), ("median", "frequencies", "quantiles")])
def test_exactly_the_chosen_checks_run(asked: tuple[str, ...]) -> None:
    chosen = [parse_property(one) for one in asked]
    checks = check_properties(people(), people(), chosen, ("income", "sex"), PropertyRules())
    assert tuple(dict.fromkeys(check.property for check in checks)) == asked


@pytest.mark.requirement("A29")
def test_a_difference_is_told_absolutely_and_as_a_share_and_judged_against_its_tolerance() -> None:
    after = people(["110", *INCOME[1:]])
    (check,) = check_properties(people(), after, [PropertyRequest("total")], ("income",), PropertyRules(tolerance=0.01))
    assert (check.before, check.after, check.difference, check.passes) == (2100, 2110, 10, True)
    assert check.relative == pytest.approx(10 / 2100)
    (strict,) = check_properties(
        people(), after, [PropertyRequest("total")], ("income",), PropertyRules(own={"total": 0.001})
    )
    assert not strict.passes


@given(numbers)
@pytest.mark.requirement("A29")
def test_identical_files_keep_every_property(values: list[int]) -> None:
    cells = [str(value) for value in values]
    sample = sample_of({"x": cells, "y": cells[::-1], "c": [str(v % 3) for v in values]}, {"x", "y"})
    simple = [PropertyRequest(name) for name in PROPERTIES if name not in ("trend", "model", "test")]
    assert all(
        check.passes for check in check_properties(sample, sample, simple, ("x", "y", "c"), PropertyRules(tolerance=0))
    )


def test_statistics_equal_those_of_numpy() -> None:
    chosen = [parse_property(name) for name in ("total", "mean", "variance", "min", "max", "median", "quantiles")]
    values = [3.5, -2.0, 7.25, 7.25, 0.0, 11.0]
    sample = sample_of({"x": [str(v) for v in values]}, {"x"})
    found = {c.variable if c.property == "quantiles" else c.property: c.before
             for c in check_properties(sample, sample, chosen, ("x",), PropertyRules())}  # fmt: skip
    expected = {"total": np.sum(values), "mean": np.mean(values), "variance": np.var(values, ddof=1), "minimum": -2.0,
                "maximum": 11.0, "median": np.median(values)}  # fmt: skip
    expected |= {f"x {share:g}": np.quantile(values, share) for share in (0.05, 0.25, 0.5, 0.75, 0.95)}
    assert found == pytest.approx(expected, rel=1e-12)


def test_a_number_that_became_words_has_not_kept_its_mean() -> None:
    (check,) = check_properties(
        people(), sample_of({"income": ["100-600"] * 6}), [PropertyRequest("mean")], ("income",), PropertyRules()
    )
    assert (check.after, check.passes, check.note) == (None, False, "not_measurable")


def test_a_property_that_no_variable_has_is_not_kept() -> None:
    (check,) = check_properties(people(), people(), [PropertyRequest("correlation")], ("sex",), PropertyRules())
    assert (check.passes, check.note) == (False, "nothing")


def test_frequencies_are_held_to_the_category_that_moved_most() -> None:
    after = people(sex=["H", "M", "*", "M", "H", "M"])
    (check,) = check_properties(
        people(), after, [PropertyRequest("frequencies")], ("sex",), PropertyRules(tolerance=0.1)
    )
    assert check.difference == pytest.approx(1 / 6)
    assert not check.passes


@pytest.mark.parametrize(("income", "kept"), [(INCOME, True), (INCOME[::-1], False), (["120", *INCOME[1:]], False)])
def test_a_trend_is_kept_when_direction_and_periods_are(income: list[str], kept: bool) -> None:
    (check,) = check_properties(
        people(), people(income), [PropertyRequest("trend")], ("income",), PropertyRules(0.05, period="year")
    )
    assert check.passes is kept


def test_a_trend_that_lost_a_period_is_not_kept() -> None:
    after = people(year=("2020", "2021", "*"))
    (check,) = check_properties(
        people(), after, [PropertyRequest("trend")], ("income",), PropertyRules(1.0, period="year")
    )
    assert not check.passes


@pytest.mark.requirement("A03")
def test_the_regression_equals_that_of_scipy_and_a_lost_significance_is_found() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=60)
    y = 0.6 * x + rng.normal(size=60)
    before = sample_of({"x": [repr(float(v)) for v in x], "y": [repr(float(v)) for v in y]}, {"x", "y"})
    shuffled = sample_of(
        {"x": [repr(float(v)) for v in x], "y": [repr(float(v)) for v in rng.permutation(y)]}, {"x", "y"}
    )
    model = parse_property("model:y~x")
    reference = stats.linregress(x, y)
    (same,) = check_properties(before, before, [model], (), PropertyRules())
    (lost,) = check_properties(before, shuffled, [model], (), PropertyRules())
    assert same.before == pytest.approx(reference.slope)
    assert (same.passes, same.note) == (True, "significant")
    assert (lost.passes, lost.note) == (False, "was_significant")


def test_the_chi_square_test_equals_that_of_scipy() -> None:
    a, b = list("xxxyyyyxyx") * 3, list("uuvvvuuvvu") * 3
    sample = sample_of({"a": a, "b": b})
    table = [[sum(p == i and q == j for p, q in zip(a, b, strict=True)) for j in "uv"] for i in "xy"]
    expected = stats.chi2_contingency(table, correction=False)
    (check,) = check_properties(sample, sample, [parse_property("test:a:b")], (), PropertyRules())
    assert check.before == pytest.approx(expected.statistic)


@pytest.mark.parametrize("value", [0.0, 1e-12, 0.3, 3.84, 17.5, 250.0, 1e6])
@pytest.mark.parametrize(("free", "among"), [(1, 9.5), (3, 57.0), (24, 1e6)])
def test_the_tails_are_those_of_scipys_distributions_to_the_last_bit(value: float, free: int, among: float) -> None:
    assert special.chdtrc(free, value) == stats.chi2.sf(value, free)
    assert special.fdtrc(free, among, value) == stats.f.sf(value, free, among)


@pytest.mark.parametrize("words", ["moda", "model:y", "test:a", "model:y~"])
def test_a_property_that_is_unknown_or_incomplete_is_refused(words: str) -> None:
    with pytest.raises(UnknownProperty):
        parse_property(words)


LABELS = {"a": "other", "b": "other", "c": "geographic", "d": "other", "e": "geographic"}


def base(**changed: list[str]):
    """A small base with four variables that stay, two of them geographic."""
    cells = {"a": ["1.5", "2", "7"], "b": list("xyx"), "c": list("nsn"), "d": ["10", "20", "20"], "e": list("uuv")}
    return sample_of(cells | changed, {"a", "d"})


@pytest.mark.requirement("P13")
def test_three_variables_are_refused_and_so_is_a_contrast_of_one_kind() -> None:
    with pytest.raises(ContrastTooSmall):
        contrast(base(), base(), ("a", "b", "c"), LABELS)
    with pytest.raises(ContrastTooSmall):
        contrast(base(), base(), ("a", "b", "c", "c"), LABELS)
    only_other = dict.fromkeys("abde", "other") | {"c": "geographic"}
    with pytest.raises(ContrastOneKind):
        contrast(base(), base(), ("a", "b", "d", "e"), only_other)
    assert len(contrast(base(), base(), ("a", "b", "d", "e"), dict.fromkeys("abde", "other"))) == 4


@pytest.mark.requirement("P14", "P15")
def test_untouched_variables_are_equal_and_a_recoded_one_differs() -> None:
    same = contrast(base(), base(a=["7.0", "2", "1.50"]), ("a", "b", "c", "d"), LABELS)
    assert [line.equal for line in same] == [True] * 4
    assert set(same[0].statistics) == {"mean", "variance", "minimum", "maximum", "median"}
    moved = base(a=["1.5", "2.000000001", "7"], b=list("xxx"), d=["10", "20", "2*"])
    assert [line.equal for line in contrast(base(), moved, ("a", "b", "c", "d"), LABELS)] == [False, False, True, False]


@pytest.mark.requirement("P14")
def test_a_change_that_keeps_all_five_statistics_is_still_found() -> None:
    before = base(
        a=["0", "1", "3", "5", "7", "9", "10"], b=list("x" * 7), c=list("n" * 7), d=["1"] * 7, e=list("u" * 7)
    )
    other = ["0", "2", "2", "5", "8", "8", "10"]  # same mean, minimum, maximum, median; another variance
    after = base(a=other, b=list("x" * 7), c=list("n" * 7), d=["1"] * 7, e=list("u" * 7))
    assert not contrast(before, after, ("a", "b", "c", "d"), LABELS)[0].equal
