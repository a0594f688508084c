"""MEL's walk: the annotated dictionary judged, its approval demanded, the risk that stays, the contrast.

Knows projects, labels and treatments. Ignores how areas and classes are counted (room `risk`) and how two bases are
compared (room `evaluation`). Source: MEL protocol III.3, IV.1 to IV.3; readings X16 to X21.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.data.table import Frequencies
from celosia.dossier import fault_sentence
from celosia.errors import AnnotatedDictionaryFaulty, NotApproved, UnknownVariable
from celosia.evaluation.contrast import contrast
from celosia.model.evaluation import ContrastLine, RiskSide
from celosia.model.exceptions import reason_for
from celosia.model.geography import MINIMUM, GeographyReport, UnitKind
from celosia.model.geography import Treatment as AreaTreatment
from celosia.model.mel import AnnotatedDictionary, AnnotatedLine, AreaCounts, ContrastReport, Fault, FrequencyPair
from celosia.model.protocols import Rule
from celosia.model.scenarios import THRESHOLD
from celosia.model.variables import Kind, MelLabel, Role, Scale, Treatment, Variable
from celosia.pipeline._call import Place
from celosia.pipeline._evaluate import Pair, opened_pair
from celosia.pipeline._evaluate_risk import released_persons, risk_side
from celosia.pipeline._evaluate_samples import Side, make_samples
from celosia.pipeline._open import Opened, opened
from celosia.pipeline._project import Project, open_project, read_toml
from celosia.pipeline._risk_special import geography_rule_of
from celosia.protocols import combined

PROTOCOL = "mel"
KEEP, RECODE, REMOVE = "keep", "recode", "remove"
_WORDS = {Treatment.REMOVE: REMOVE, Treatment.GENERALISE: RECODE, Treatment.KEEP: KEEP, Treatment.MASK_IF_NEEDED: KEEP}
_AREA_WORDS = {AreaTreatment.KEEP: KEEP, AreaTreatment.RECODE: RECODE, AreaTreatment.REMOVE: REMOVE}
_RARE = 3  # a category of this many observations or fewer is not named in a document
_LISTED = 20


# --- the annotated dictionary ---------------------------------------------------------------------


def annotated_dictionary(folder: Place) -> AnnotatedDictionary:
    """Every line of the dictionary with MEL's two columns, what the rule says of it, and what is wrong (P02–P09)."""
    project = open_project(folder)
    document = read_toml(project.folder / "celosia.toml")
    minimum, exceptions = asked_of(project, document)
    with opened(project.folder) as found:
        reports = {
            v.name: geography_rule_of(found, v.name, minimum)
            for v in found.variables
            if v.mel_label == MelLabel.GEOGRAPHIC
        }
        lines = annotated_lines(found.variables, reports, document, exceptions)
        unit = UnitKind.ROWS if found.person is None else UnitKind.KEY
        return AnnotatedDictionary(unit, found.person, minimum, lines)


def refuse_faulty(annotated: AnnotatedDictionary) -> None:
    """Stop where a line does not follow the protocol, naming each."""
    found = [(line, fault) for line in annotated.lines for fault in line.faults]
    if found:
        raise AnnotatedDictionaryFaulty(count=len(found), faults=" ".join(_fault_sentences(found)))


def _fault_sentences(found: Sequence[tuple[AnnotatedLine, Fault]]) -> list[str]:
    """A sentence for each fault; lines that only lack their purpose share one, for a new dictionary has a hundred."""
    lacking = [line.variable for line, fault in found if fault is Fault.NO_PURPOSE]
    if len(lacking) < 2:
        return [fault_sentence(line, fault) for line, fault in found]
    others = [fault_sentence(line, fault) for line, fault in found if fault is not Fault.NO_PURPOSE]
    return [*others, messages.text("mel.fault.no_purposes", variables=", ".join(lacking))]


def asked_of(project: Project, document: Mapping[str, Any]) -> tuple[int, dict[str, str]]:
    """The units that a category must exceed, and the variables excepted with their reason (P09)."""
    rules = {r.id: r for r in combined(project.config.protocols, document.get("overrides", {})) if r.protocol == "mel"}
    units = int(rules["geography"].asked["units"]) if "geography" in rules else MINIMUM
    return units, {n: reason_for(r.overridden, n) for r in rules.values() if r.id in _EXCEPTING for n in _allowed(r)}


def annotated_lines(
    variables: Sequence[Variable],
    reports: Mapping[str, GeographyReport],
    document: Mapping[str, Any],
    exceptions: Mapping[str, str],
) -> tuple[AnnotatedLine, ...]:
    """Each variable judged by what was counted of its areas; one whose areas are not counted is not judged by them."""
    return tuple(_line(v, reports.get(v.name), document, exceptions) for v in variables)


_EXCEPTING = ("labels", "geography")


def _allowed(rule: Rule) -> tuple[str, ...]:
    return tuple(rule.asked.get("allowed", ()))


def _line(
    variable: Variable, report: GeographyReport | None, document: Mapping[str, Any], exceptions: Mapping[str, str]
) -> AnnotatedLine:
    areas = None if report is None else _areas(report, document)
    stepped = _steps_on(variable.name, document)
    against, others = _against(variable, areas, report, stepped), _lacks(variable, document)
    excepted = exceptions.get(variable.name, "") if against and against is not Fault.DIRECT_STAYS else ""
    faults = others if excepted or against is None else (against, *others)
    return AnnotatedLine(
        variable=variable.name,
        description=variable.label,
        label=variable.mel_label.value if variable.mel_label else "",
        treatment=_WORDS[variable.treatment] if variable.treatment else "",
        options=_options(variable.mel_label, report),
        areas=areas,
        exception=excepted,
        faults=faults,
    )


def _areas(report: GeographyReport, document: Mapping[str, Any]) -> AreaCounts:
    """The counts at the level that would be published: a project may ask that a variable starts coarser (X16)."""
    asked = int(document.get("hierarchies", {}).get(report.variable, {}).get("minimum", 0))
    level = report.levels[min(asked, len(report.levels) - 1)]
    return AreaCounts(
        level=level.level,
        areas=level.areas,
        smallest=level.smallest,
        small_areas=level.small_areas,
        small_units=level.small_units,
        missing=level.missing,
        passes=level.passes,
        finest=report.finest,
    )


def _options(label: MelLabel | None, report: GeographyReport | None) -> tuple[str, ...]:
    if report is not None:
        return tuple(_AREA_WORDS[one] for one in report.treatments)
    return {MelLabel.DIRECT: (REMOVE,), MelLabel.OTHER: (KEEP,)}.get(label, ()) if label else ()


def _against(
    variable: Variable, areas: AreaCounts | None, report: GeographyReport | None, stepped: bool
) -> Fault | None:
    """How a treatment departs from what the label asks; a variable that a step recodes is judged once published."""
    goes = variable.treatment == Treatment.REMOVE
    if variable.treatment is None:
        return None
    if variable.mel_label == MelLabel.DIRECT:
        return None if goes else Fault.DIRECT_STAYS
    if variable.mel_label == MelLabel.OTHER:
        return Fault.OTHER_GOES if goes else None
    if areas is None or report is None:
        return None
    if goes:
        return Fault.AREA_GOES if report.finest == 0 else None
    return None if areas.passes or stepped else Fault.AREA_STAYS


def _lacks(variable: Variable, document: Mapping[str, Any]) -> tuple[Fault, ...]:
    """What a line lacks, whatever its label."""
    found = []
    if variable.mel_label is None:
        found.append(Fault.NO_LABEL)
    if variable.treatment is None:
        found.append(Fault.NO_TREATMENT)
    if variable.treatment in (None, Treatment.REMOVE):
        return tuple(found)
    if _keeps_numbers(variable, document):
        found.append(Fault.GROUP_NUMBER)
    if variable.role == Role.IDENTIFIER and variable.mel_label != MelLabel.DIRECT:
        found.append(Fault.IDENTIFIER)
    if not variable.purpose.strip():
        found.append(Fault.NO_PURPOSE)
    return tuple(found)


def _keeps_numbers(variable: Variable, document: Mapping[str, Any]) -> bool:
    """A number of household or dwelling called "other" that nothing renumbers (X17)."""
    if variable.mel_label != MelLabel.OTHER or variable.kind != Kind.LOCATION:
        return False
    unit = document.get("unit", {})
    return variable.name not in (unit.get("household"), unit.get("person")) and not _steps_on(variable.name, document)


def _steps_on(name: str, document: Mapping[str, Any]) -> bool:
    """Whether a technique of the project works on a variable."""
    values = [value for step in document.get("steps", ()) for value in step.values()]
    return any(value == name or (isinstance(value, list) and name in value) for value in values)


# --- gates ----------------------------------------------------------------------------------------


def refuse_unapproved(project: Project) -> None:
    """Nothing of a MEL project is applied before the lead, or a recorded delegate, approved the dictionary (P10)."""
    if PROTOCOL not in project.config.protocols:
        return
    from celosia.pipeline._approve import valid_approvals

    roles = next(rule for rule in combined((PROTOCOL,)) if rule.id == "approval").asked["roles"]
    if not any(one.role in roles for one in valid_approvals(project.folder, "dictionary")):
        what = messages.text("mel.approval.dictionary")
        raise NotApproved(what=what, command=f"celosia approve {project.folder} dictionary --role lead")


def annotated_figures(folder: Place) -> dict[str, Any]:
    """What whoever approves the dictionary is shown, and signs with it; one against the protocol is not approved."""
    annotated = annotated_dictionary(folder)
    refuse_faulty(annotated)
    return {"stay": len(annotated.kept), "exceptions": annotated.exceptions, "risk": source_figures(folder)}


def exceptions_of(project: Project) -> dict[str, Any]:
    """The exceptions of a project as they stand in celosia.toml: an approval of the dictionary covers them too."""
    if PROTOCOL not in project.config.protocols:
        return {}
    written = read_toml(project.folder / "celosia.toml").get("overrides", {}).get(PROTOCOL, {})
    return {name: written[name] for name in _EXCEPTING if name in written}


# --- the risk that stays --------------------------------------------------------------------------


def residual_figures(folder: Place) -> dict[str, Any]:
    """k and RI = 1/f over the indirect identifiers that stay, measured on the candidate (X18, P20)."""
    with opened_pair(folder, None, None, {}) as pair:
        quasi = tuple(n for n in pair.plan.policy["quasi"] if n in pair.after.table.names) if pair.plan else ()
        with released_persons(pair.after, pair.order) as (table, person):
            side = risk_side(table.tuples(quasi, person), THRESHOLD) if quasi else None
    return _figures(quasi, side)


def source_figures(folder: Place) -> dict[str, Any]:
    """The same over what would stay, before anything is applied."""
    with opened(folder) as found:
        quasi = _staying_quasi(found)
        side = risk_side(found.table.tuples(quasi, found.person), THRESHOLD) if quasi else None
    return _figures(quasi, side)


def _staying_quasi(found: Opened) -> tuple[str, ...]:
    household = read_toml(found.folder / "celosia.toml").get("unit", {}).get("household") if found.folder else None
    stays = [v for v in found.variables if v.treatment not in (None, Treatment.REMOVE) and v.role == Role.QUASI]
    return tuple(v.name for v in stays if v.name not in (household, found.person))


def _figures(quasi: Sequence[str], side: RiskSide | None, threshold: Fraction = THRESHOLD) -> dict[str, Any]:
    """Figures that a person can be shown and can sign; nothing measured is None, never zero."""
    persons = side is not None and side.persons is not None
    return {
        "variables": list(quasi),
        "unit": "persons" if persons else "rows",
        "units": None if side is None else side.persons if persons else side.rows,
        "k": None if side is None else side.k_persons if persons else side.k,
        "threshold": str(float(threshold)),
        "at_risk": None if side is None else side.at_risk,
        "share": None if side is None else round(side.at_risk_share, 6),
    }


# --- contrast -------------------------------------------------------------------------------------


def contrast_report(folder: Place, variables: Sequence[str] | None = None) -> ContrastReport:
    """Both bases side by side over the variables chosen in the request, at least four of both kinds (P12–P15)."""
    chosen = tuple(chosen_variables(folder) if variables is None else variables)
    with opened_pair(folder, None, None, {}) as pair:
        names = pair.after.table.names
        for name in chosen:
            if name not in names:
                raise UnknownVariable(variable=name, known=", ".join(names))
        labels = {v.name: v.mel_label.value for v in pair.before.variables if v.mel_label and v.name in names}
        lines = _contrasted(pair, chosen, labels)
        common = [name for name in pair.before.table.names if name in names]
        return ContrastReport(
            rows_before=pair.before.table.count_rows(),
            rows_after=pair.after.table.count_rows(),
            lines=lines,
            removed=tuple(name for name in pair.before.table.names if name not in names),
            changed=tuple(name for name in common if _counts(pair.before, name) != _counts(pair.after, name)),
            frequencies={line.variable: _pairs(pair, line.variable) for line in lines if _shows_values(pair, line)},
        )


def contrast_results(folder: Place) -> dict[str, bool]:
    """Variable -> whether both bases say the same of it, for the rule."""
    return {line.variable: line.equal for line in contrast_report(folder).lines}


def chosen_variables(folder: Place) -> tuple[str, ...]:
    """The variables that the request chose for the contrast."""
    if not (Path(folder) / "request.toml").is_file():
        return ()
    from celosia.pipeline._request import read_request

    return tuple(read_request(folder).mel.get("contrast", ()))


def _contrasted(pair: Pair, chosen: tuple[str, ...], labels: Mapping[str, str]) -> tuple[ContrastLine, ...]:
    described = {variable.name: variable for variable in pair.before.variables}
    columns = tuple(dict.fromkeys(chosen)) or pair.after.table.names[:1]  # the contrast itself says that they are few
    sides = [Side(found, columns, found.source.name) for found in (pair.before, pair.after)]
    samples = make_samples(sides[0], sides[1], described, (), None, strict=False)
    return contrast(samples.before, samples.after, chosen, labels)


def _counts(found: Opened, name: str) -> dict[str, int]:
    held: Frequencies = found.table.frequencies(name)
    return dict(zip(held.values.to_pylist(), held.counts.tolist(), strict=True))


def _shows_values(pair: Pair, line: ContrastLine) -> bool:
    texts = {v.name for v in pair.before.variables if v.scale == Scale.FREE_TEXT or v.role == Role.IDENTIFIER}
    return line.scale == "categorical" and line.variable not in texts


def _pairs(pair: Pair, name: str) -> tuple[FrequencyPair, ...]:
    """The frequency table of a category in both bases; rare categories stand together, unnamed."""
    before, after = _counts(pair.before, name), _counts(pair.after, name)
    values = sorted({*before, *after}, key=lambda value: (-before.get(value, 0), value))
    frequent = [v for v in values if v and before.get(v, 0) > _RARE and after.get(v, 0) > _RARE][:_LISTED]
    listed = [FrequencyPair(value, before[value], after[value]) for value in frequent]
    rest = [value for value in values if value not in set(frequent)]
    if rest:
        listed.append(FrequencyPair("", sum(before.get(v, 0) for v in rest), sum(after.get(v, 0) for v in rest)))
    return tuple(listed)
