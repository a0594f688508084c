"""The steps of the MEL protocol: the annotated dictionary and its approval, the residual risk, the contrast.

Knows projects, labels and treatments. Ignores how areas and classes are counted (package `risk`) and how two bases are
compared (package `evaluation`). Source: MEL protocol III.3, IV.1 to IV.3; readings X16 to X21.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from celosia import messages
from celosia.data.table import Frequencies
from celosia.dossier.mel import fault_sentence
from celosia.evaluation.contrast import contrast
from celosia.model.errors import UnknownVariable
from celosia.model.exceptions import reason_for
from celosia.model.reports.evaluation import ContrastLine, RiskSide
from celosia.model.reports.geography import MINIMUM, GeographyReport, UnitKind
from celosia.model.reports.geography import Treatment as AreaTreatment
from celosia.model.reports.mel import (
    AnnotatedDictionary,
    AnnotatedLine,
    AreaCounts,
    ContrastReport,
    Fault,
    FrequencyPair,
)
from celosia.model.reports.scenarios import THRESHOLD
from celosia.model.variables import Kind, MelLabel, Role, Scale, Treatment, Variable
from celosia.pipeline.assessment.evaluate import FilePair, open_pair
from celosia.pipeline.assessment.evaluation_risk import open_released_persons, risk_side
from celosia.pipeline.assessment.evaluation_samples import FileColumns, make_samples
from celosia.pipeline.assessment.special_uniques import geography_rule
from celosia.pipeline.candidate.errors import AnnotatedDictionaryFaulty, NotApproved
from celosia.pipeline.intake.open_table import OpenTable, open_table
from celosia.pipeline.project.folder import Project
from celosia.protocols.load import combined_rules

PROTOCOL = "mel"
KEEP, RECODE, REMOVE = "keep", "recode", "remove"
_WORDS = {Treatment.REMOVE: REMOVE, Treatment.GENERALISE: RECODE, Treatment.KEEP: KEEP, Treatment.MASK_IF_NEEDED: KEEP}
_AREA_WORDS = {AreaTreatment.KEEP: KEEP, AreaTreatment.RECODE: RECODE, AreaTreatment.REMOVE: REMOVE}
_RULES_WITH_EXCEPTIONS = ("labels", "geography")
_RARE = 3  # a category of this many observations or fewer is not named in a document
_LISTED = 20


# --- the annotated dictionary ---------------------------------------------------------------------


def annotated_dictionary(project: Project) -> AnnotatedDictionary:
    """Every line of the dictionary with MEL's two columns, what the rule says of it, and what is wrong (P02–P09)."""
    minimum, exceptions = mel_demands(project)
    with open_table(project) as source:
        geographic = [v.name for v in source.variables if v.mel_label == MelLabel.GEOGRAPHIC]
        reports = {name: geography_rule(source, name, minimum) for name in geographic}
        lines = annotated_lines(source.variables, reports, project.settings, exceptions)
        unit = UnitKind.ROWS if source.person is None else UnitKind.KEY
        return AnnotatedDictionary(unit, source.person, minimum, lines)


def refuse_faulty(annotated: AnnotatedDictionary) -> None:
    """Stop where a line does not follow the protocol, naming each."""
    faults = [(line, fault) for line in annotated.lines for fault in line.faults]
    if faults:
        raise AnnotatedDictionaryFaulty(count=len(faults), faults=" ".join(_fault_sentences(faults)))


def _fault_sentences(faults: Sequence[tuple[AnnotatedLine, Fault]]) -> list[str]:
    """A sentence for each fault; lines that only lack their purpose share one, for a new dictionary has a hundred."""
    lacking = [line.variable for line, fault in faults if fault is Fault.NO_PURPOSE]
    if len(lacking) < 2:
        return [fault_sentence(line, fault) for line, fault in faults]
    others = [fault_sentence(line, fault) for line, fault in faults if fault is not Fault.NO_PURPOSE]
    return [*others, messages.text("mel.fault.no_purposes", variables=", ".join(lacking))]


def mel_demands(project: Project) -> tuple[int, dict[str, str]]:
    """The units that a category must exceed, and the variables excepted with their reason (P09)."""
    overrides = project.settings.get("overrides", {})
    rules = {r.id: r for r in combined_rules(project.config.protocols, overrides) if r.protocol == "mel"}
    units = int(rules["geography"].asked["units"]) if "geography" in rules else MINIMUM
    excepting = [rule for rule in rules.values() if rule.id in _RULES_WITH_EXCEPTIONS]
    return units, {n: reason_for(rule.overridden, n) for rule in excepting for n in rule.asked.get("allowed", ())}


def annotated_lines(
    variables: Sequence[Variable],
    reports: Mapping[str, GeographyReport],
    document: Mapping[str, Any],
    exceptions: Mapping[str, str],
) -> tuple[AnnotatedLine, ...]:
    """Each variable judged by what was counted of its areas; one whose areas are not counted is not judged by them."""
    return tuple(_line(v, reports.get(v.name), document, exceptions) for v in variables)


def _line(
    variable: Variable, report: GeographyReport | None, document: Mapping[str, Any], exceptions: Mapping[str, str]
) -> AnnotatedLine:
    areas = None if report is None else _areas(report, document)
    stepped = _steps_on(variable.name, document)
    against, others = _treatment_fault(variable, areas, report, stepped), _lacks(variable, document)
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
        return tuple(_AREA_WORDS[treatment] for treatment in report.treatments)
    return {MelLabel.DIRECT: (REMOVE,), MelLabel.OTHER: (KEEP,)}.get(label, ()) if label else ()


def _treatment_fault(
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
    stays = variable.treatment not in (None, Treatment.REMOVE)
    faults = {
        Fault.NO_LABEL: variable.mel_label is None,
        Fault.NO_TREATMENT: variable.treatment is None,
        Fault.GROUP_NUMBER: stays and _keeps_numbers(variable, document),
        Fault.IDENTIFIER: stays and variable.role == Role.IDENTIFIER and variable.mel_label != MelLabel.DIRECT,
        Fault.NO_PURPOSE: stays and not variable.purpose.strip(),
    }
    return tuple(fault for fault, applies in faults.items() if applies)


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
    from celosia.pipeline.candidate.approvals import valid_approvals

    roles = next(rule for rule in combined_rules((PROTOCOL,)) if rule.id == "approval").asked["roles"]
    if not any(approval.role in roles for approval in valid_approvals(project, "dictionary")):
        what = messages.text("mel.approval.dictionary")
        raise NotApproved(what=what, command=f"celosia approve {project.folder} dictionary --role lead")


def annotated_figures(project: Project) -> dict[str, Any]:
    """What whoever approves the dictionary is shown, and signs with it; one against the protocol is not approved."""
    annotated = annotated_dictionary(project)
    refuse_faulty(annotated)
    return {"stay": len(annotated.kept_variables), "exceptions": annotated.exceptions, "risk": source_figures(project)}


def exceptions_of(project: Project) -> dict[str, Any]:
    """The exceptions of a project as celosia.toml has them: an approval of the dictionary covers them too."""
    if PROTOCOL not in project.config.protocols:
        return {}
    written = project.settings.get("overrides", {}).get(PROTOCOL, {})
    return {name: written[name] for name in _RULES_WITH_EXCEPTIONS if name in written}


# --- the risk that stays --------------------------------------------------------------------------


def residual_figures(project: Project) -> dict[str, Any]:
    """k and RI = 1/f over the indirect identifiers that stay, measured on the candidate (X18, P20)."""
    with open_pair(project, None, None, {}) as pair:
        quasi = tuple(n for n in pair.plan.policy["quasi"] if n in pair.after.table.names) if pair.plan else ()
        with open_released_persons(pair.after, pair.order) as (table, person):
            side = risk_side(table.tuples(quasi, person), THRESHOLD) if quasi else None
    return _figures(quasi, side)


def source_figures(project: Project) -> dict[str, Any]:
    """The same over what would stay, before anything is applied."""
    with open_table(project) as source:
        quasi = _staying_quasi(source)
        side = risk_side(source.table.tuples(quasi, source.person), THRESHOLD) if quasi else None
    return _figures(quasi, side)


def _staying_quasi(source: OpenTable) -> tuple[str, ...]:
    household = source.project.settings.get("unit", {}).get("household") if source.project else None
    stays = [v for v in source.variables if v.treatment not in (None, Treatment.REMOVE) and v.role == Role.QUASI]
    return tuple(v.name for v in stays if v.name not in (household, source.person))


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


def contrast_report(project: Project, variables: Sequence[str] | None = None) -> ContrastReport:
    """Both bases side by side over the variables chosen in the request, at least four of both kinds (P12–P15)."""
    chosen = tuple(chosen_variables(project) if variables is None else variables)
    with open_pair(project, None, None, {}) as pair:
        names = pair.after.table.names
        for name in chosen:
            if name not in names:
                raise UnknownVariable(variable=name, known=", ".join(names))
        labels = {v.name: v.mel_label.value for v in pair.before.variables if v.mel_label and v.name in names}
        lines = _contrast_lines(pair, chosen, labels)
        common = [name for name in pair.before.table.names if name in names]
        return ContrastReport(
            rows_before=pair.before.table.count_rows(),
            rows_after=pair.after.table.count_rows(),
            lines=lines,
            removed=tuple(name for name in pair.before.table.names if name not in names),
            changed=tuple(name for name in common if _counts(pair.before, name) != _counts(pair.after, name)),
            frequencies={line.variable: _pairs(pair, line.variable) for line in lines if _shows_values(pair, line)},
        )


def contrast_results(project: Project) -> dict[str, bool]:
    """Variable -> whether both bases say the same of it, for the rule."""
    return {line.variable: line.equal for line in contrast_report(project).lines}


def chosen_variables(project: Project) -> tuple[str, ...]:
    """The variables that the request chose for the contrast."""
    return () if project.request is None else tuple(project.request.mel.get("contrast", ()))


def _contrast_lines(pair: FilePair, chosen: tuple[str, ...], labels: Mapping[str, str]) -> tuple[ContrastLine, ...]:
    described = {variable.name: variable for variable in pair.before.variables}
    columns = tuple(dict.fromkeys(chosen)) or pair.after.table.names[:1]  # the contrast itself says that they are few
    sides = [FileColumns(file, columns, file.source.name) for file in (pair.before, pair.after)]
    samples = make_samples(sides[0], sides[1], described, (), None, strict=False)
    return contrast(samples.before, samples.after, chosen, labels)


def _counts(file: OpenTable, name: str) -> dict[str, int]:
    frequencies: Frequencies = file.table.frequencies(name)
    return dict(zip(frequencies.values.to_pylist(), frequencies.counts.tolist(), strict=True))


def _shows_values(pair: FilePair, line: ContrastLine) -> bool:
    texts = {v.name for v in pair.before.variables if v.scale == Scale.FREE_TEXT or v.role == Role.IDENTIFIER}
    return line.scale == "categorical" and line.variable not in texts


def _pairs(pair: FilePair, name: str) -> tuple[FrequencyPair, ...]:
    """The frequency table of a category in both bases; rare categories are counted together, unnamed."""
    before, after = _counts(pair.before, name), _counts(pair.after, name)
    values = sorted({*before, *after}, key=lambda value: (-before.get(value, 0), value))
    frequent = [v for v in values if v and before.get(v, 0) > _RARE and after.get(v, 0) > _RARE][:_LISTED]
    listed = [FrequencyPair(value, before[value], after[value]) for value in frequent]
    rest = [value for value in values if value not in set(frequent)]
    if rest:
        listed.append(FrequencyPair("", sum(before.get(v, 0) for v in rest), sum(after.get(v, 0) for v in rest)))
    return tuple(listed)
