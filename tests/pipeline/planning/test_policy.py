"""What a project asks for: settings of the right kind, protocols never undercut, options never ignored."""

from __future__ import annotations

from fractions import Fraction

import pytest

from celosia.evaluation.objective import Objective
from celosia.model.errors import UnknownVariable
from celosia.model.plan import MEANS, METRICS
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Role, Variable
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning.errors import BelowProtocol, NoSensitivePublished
from celosia.pipeline.planning.policy import policy_of
from celosia.pipeline.project.errors import UnknownArgument, WrongSetting
from celosia.pipeline.project.files import read_toml
from celosia.pipeline.project.folder import open_project
from celosia.risk.errors import CriterionIncomplete

VARIABLES = (
    Variable("SEXO", role=Role.QUASI, purpose="estudio"),
    Variable("EDAD", role=Role.QUASI, purpose="estudio"),
    Variable("DIAG", role=Role.SENSITIVE, purpose="estudio"),
    Variable("CAUSA", role=Role.SENSITIVE, purpose="estudio"),
)
L2 = [{"criterion": "distinct_l", "variable": name, "l": 2} for name in ("DIAG", "CAUSA")]


def criteria(protocols=(), given=None, variables=VARIABLES, **asked):
    document = {} if given is None else {"policy": {"criteria": given}}
    return [dict(one) for one in policy_of(document, variables, protocols, **asked).criteria]


def test_without_protocol_two_persons_and_two_values_are_asked():
    assert criteria() == [{"criterion": "k", "k": 2}, *L2]


def test_variables_to_keep_weigh_five_times_the_heaviest_of_the_others():
    document = {"policy": {"weights": {"EDAD": 2.0}}}
    assert policy_of(document, VARIABLES, (), keep=("SEXO",)).weights == {"EDAD": 2.0, "SEXO": 10.0}
    assert policy_of(document, VARIABLES, (), keep=["SEXO", "EDAD"]).weights == {"SEXO": 5.0, "EDAD": 5.0}
    assert policy_of(document, VARIABLES, ()).weights == {"EDAD": 2.0}


def test_a_variable_to_keep_must_be_a_quasi_identifier():
    with pytest.raises(UnknownVariable):
        policy_of({}, VARIABLES, (), keep=("DIAG",))


def test_a_k_is_added_where_the_project_states_none():
    only_l = [{"criterion": "distinct_l", "variable": "DIAG", "l": 3}]
    assert criteria(given=only_l, k=5) == [*only_l, {"criterion": "k", "k": 5}]


def test_an_l_is_added_for_every_sensitive_variable_where_the_protocol_asks_none():
    asked = [{"criterion": "distinct_l", "variable": name, "l": 3} for name in ("DIAG", "CAUSA")]
    assert criteria(("atenea",), l=3) == [{"criterion": "k", "k": 4}, *asked]


def test_an_l_replaces_the_one_that_stands_and_is_added_beside_it():
    found = criteria(given=[{"criterion": "distinct_l", "variable": "CAUSA", "l": 2, "missing_counts": False}], l=4)
    assert found == [
        {"criterion": "distinct_l", "variable": "CAUSA", "l": 4, "missing_counts": False},
        {"criterion": "distinct_l", "variable": "DIAG", "l": 4},
    ]


def test_an_l_without_sensitive_variable_is_said_and_not_ignored():
    with pytest.raises(NoSensitivePublished):
        criteria(variables=VARIABLES[:2], l=3)


@pytest.mark.parametrize(
    ("protocols", "given", "asked", "said"),
    [
        (("minsal",), None, {"k": 1}, ("k", 1, "MINSAL", 2)),
        (("minsal",), None, {"l": 1}, ("l", 1, "MINSAL", 2)),
        (("atenea",), None, {"k": 3}, ("k", 3, "ATENEA", 4)),
        (("minsal-sensible",), None, {"k": 2}, ("k", 2, "MINSAL-SENSIBLE", 3)),
        (("minsal", "atenea"), [{"criterion": "k", "k": 3}], {}, ("k", 3, "ATENEA", 4)),
        (("minsal",), [{"criterion": "distinct_l", "variable": "DIAG", "l": 1}], {}, ("l", 1, "MINSAL", 2)),
    ],
)
def test_less_than_a_protocol_asks_is_refused_by_its_name(protocols, given, asked, said):
    with pytest.raises(BelowProtocol) as refused:
        criteria(protocols, given, **asked)
    assert tuple(refused.value.values[key] for key in ("measure", "given", "protocol", "minimum")) == said
    assert said[2] in str(refused.value)


def test_mel_recodes_nothing_of_its_own_and_still_takes_what_is_asked():
    assert criteria(("mel",)) == []
    assert criteria(("mel",), k=3) == [{"criterion": "k", "k": 3}]


def test_an_override_with_a_reason_lowers_what_the_policy_must_reach():
    document = {"overrides": {"atenea": {"risk": {"asked": {"threshold": "0.5"}, "reason": "lo pidió el comité"}}}}
    assert policy_of(document, VARIABLES, ("atenea",)).criteria[0] == {"criterion": "k", "k": 3}


def test_what_a_project_leaves_out_its_protocols_add():
    t = {"criterion": "t", "variable": "DIAG", "t": 0.3}
    assert criteria(("minsal", "atenea"), [t]) == [t, {"criterion": "k", "k": 4}, *L2]
    assert criteria(("minsal",), []) == [{"criterion": "k", "k": 2}, *L2]


def test_a_k_in_rows_does_not_stand_for_the_persons_a_protocol_protects():
    in_rows = {"criterion": "k", "k": 9, "unit": "rows"}
    assert {"criterion": "k", "k": 2} in criteria(("minsal",), [in_rows])


def test_a_criterion_that_lacks_a_parameter_says_which():
    with pytest.raises(CriterionIncomplete) as refused:
        criteria(given=[{"criterion": "k"}])
    assert refused.value.values == {"criterion": "k", "parameter": "k", "known": "k, unit"}


@pytest.mark.parametrize("policy", [{"order": ["SEXO", "ZZ"]}, {"weights": {"ZZ": 1}}])
def test_a_setting_that_names_no_variable_is_refused(policy):
    with pytest.raises(UnknownVariable):
        policy_of({"policy": policy}, VARIABLES, ())


def test_an_order_written_before_a_role_changed_holds_for_those_that_are_left():
    written = {"policy": {"method": "recipe", "order": ["DIAG", "EDAD", "SEXO"]}}
    assert policy_of(written, VARIABLES, ()).order == ("EDAD", "SEXO")
    with pytest.raises(UnknownVariable):
        policy_of({}, VARIABLES, (), method="recipe", order=["DIAG", "EDAD", "SEXO"])


@pytest.mark.parametrize(
    "asked", [{"limit": "2"}, {"time_limit": -1}, {"metric": "beauty"}, {"colour": 1}, {"mask_sensitive": "false"}]
)
def test_what_a_call_asks_is_read_by_the_same_table(asked):
    with pytest.raises(ValueOutOfRange):
        policy_of({}, VARIABLES, (), **asked)


def test_limits_are_exact():
    assert policy_of({"policy": {"limit": 0.05}}, VARIABLES, ()).limit == Fraction(1, 20)
    assert policy_of({"policy": {"limit": 0}}, VARIABLES, ()).limit == 0


def test_the_metrics_that_may_be_named_are_those_that_exist():
    for metric in METRICS:
        for mean in MEANS:
            assert Objective(metric, mean).metric == metric


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("settings")
    (place / "datos.csv").write_text("SEXO,EDAD\nH,30\nM,40\nH,30\n", "utf-8")
    return init(str(place / "datos.csv"), str(place / "datos"), ("minsal",)).project.folder


WRONG = [
    ("policy = 3", "policy"),
    ('[policy]\ncriteria = "k"', "policy.criteria"),
    ("[policy]\ncriteria = [1, 2]", "policy.criteria"),
    ("[policy]\nweights = 3", "policy.weights"),
    ('[policy]\nweights = {SEXO = "a"}', "policy.weights"),
    ("[policy]\nweights = {SEXO = nan}", "policy.weights"),
    ("[policy]\norder = [1]", "policy.order"),
    ('[policy]\ntime_limit = "a"', "policy.time_limit"),
    ("[policy]\ntime_limit = -1", "policy.time_limit"),
    ("[policy]\ntime_limit = inf", "policy.time_limit"),
    ("[policy]\nlimit = 1.5", "policy.limit"),
    ('[policy]\nmask_sensitive = "false"', "policy.mask_sensitive"),
    ('[policy]\nmethod = "magic"', "policy.method"),
    ("[policy]\ncolour = 3", "policy.colour"),
    ("[hierarchies]\nSEXO = 3", "hierarchies.SEXO"),
    ("hierarchies = 3", "hierarchies"),
    ('[hierarchies.SEXO]\nminimum = "a"', "hierarchies.SEXO.minimum"),
    ("[hierarchies.SEXO]\nmaximum = true", "hierarchies.SEXO.maximum"),
    ("[hierarchies.SEXO]\nfile = 3", "hierarchies.SEXO.file"),
]


@pytest.mark.parametrize(("lines", "key"), WRONG, ids=[lines for lines, _ in WRONG])
def test_a_setting_of_another_kind_is_named_with_its_file_and_what_was_expected(folder, tmp_path, lines, key):
    _refused(folder, tmp_path, lambda text: lines + "\n" + text if "[" not in lines else text + lines, key)


@pytest.mark.parametrize(
    ("before", "after", "key"),
    [
        ('protocols = ["minsal"]', 'protocols = ["zz"]', "protocols"),
        ('protocols = ["minsal"]', 'protocols = "minsal"', "protocols"),
        ("header = true", 'header = "x"', "source.reading.header"),
        ("rows = 3", 'rows = "x"', "source.rows"),
        ('format = "csv"', "", "source.reading.format"),
        ("header = true", "headr = true", "source.reading.headr"),
        ("[unit]", "[unit]\nperson = 3", "unit.person"),
        ("[unit]", '[unit]\nhousehol = "X"', "unit.househol"),
    ],
)
def test_a_wrong_line_of_the_project_itself_is_named(folder, tmp_path, before, after, key):
    def changed(text: str) -> str:
        assert before in text
        return text.replace(before, after)

    _refused(folder, tmp_path, changed, key)


def _refused(folder, tmp_path, change, key):
    import shutil

    copy = shutil.copytree(folder, tmp_path / "copy")
    path = copy / "celosia.toml"
    path.write_text(change(path.read_text("utf-8")), "utf-8")
    with pytest.raises(WrongSetting) as refused:
        open_project(copy)
    assert refused.value.exit_code == 2
    assert refused.value.values["setting"] == key
    assert str(path) in str(refused.value)
    assert refused.value.values["expected"]


def test_a_fresh_project_file_shows_what_may_be_added_and_still_reads(folder):
    text = (folder / "celosia.toml").read_text("utf-8")
    assert '#   {criterion = "k", k = 2},' in text
    assert '# household = ""' in text
    assert "# [hierarchies." in text
    bare = "\n".join(
        line.removeprefix("# ") if line.startswith(("# [policy]", "# criteria", "#   {", "# ]", "# limit")) else line
        for line in text.splitlines()
    )
    (folder.parent / "bare.toml").write_text(bare.replace("#   {", "  {"), "utf-8")
    shown = read_toml(folder.parent / "bare.toml")["policy"]
    assert shown["criteria"][0] == {"criterion": "k", "k": 2}
    assert shown["limit"] == policy_of(read_toml(folder / "celosia.toml"), VARIABLES, ("minsal",)).limit


def test_an_unknown_protocol_or_reading_choice_is_ours_to_refuse(tmp_path):
    (tmp_path / "datos.csv").write_text("SEXO\nH\n", "utf-8")
    with pytest.raises(ValueOutOfRange, match="minsal, atenea, mel"):
        init(tmp_path / "datos.csv", tmp_path / "one", ("zz",))
    with pytest.raises(UnknownArgument, match="encoding"):
        init(tmp_path / "datos.csv", tmp_path / "one", encodng="utf-8")
    assert not (tmp_path / "one").exists()
