"""MINSAL's form: Anexo I, field by field in the norm's order; what nobody answered is an empty box.

Knows the request, the dictionary's roles, the plan, the check, claims and signatures. Never invents an answer.
Source: MINSAL/DEIS, Norma técnica de anonimización, Anexo I: Formulario de anonimización.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from celosia import messages
from celosia.dossier.document import (
    Block,
    Cell,
    Checks,
    Document,
    Fields,
    Heading,
    Items,
    Note,
    Paragraph,
    Signatures,
    Signer,
    table_of,
)
from celosia.dossier.figures import variable_title
from celosia.dossier.technique import change_sentences, done_by, quoted_names, search_sentences
from celosia.model.claims import Outsider
from celosia.model.people import Approval, Person
from celosia.model.plan import Plan
from celosia.model.requests import Request
from celosia.model.variables import Role, Variable
from celosia.model.verdict import CheckReport

ANSWERS = ("administrative_act", "validated", "dictionary", "homologated")
SIGNERS = ("head", "executor", "verifier")
_NATURES = (Role.IDENTIFIER, Role.QUASI, Role.SENSITIVE, Role.PLAIN)


@dataclass(frozen=True, slots=True)
class Attempts:
    """The intruder's results: how many attempts, how many right, and whether on this very file."""

    rows: int
    correct: int
    current: bool
    interval: tuple[float, float] | None = None  # 95 %, of the rate of right claims
    minutes: int = 0
    outsiders: tuple[Outsider, ...] = ()
    statement: str = ""  # of independence
    sources: tuple[str, ...] = ()
    signed: tuple[Approval, ...] = ()  # by whoever tried or by the verifier, over these very attempts

    @property
    def independent(self) -> bool:
        """Whether everybody who tried stated their independence and a signature answers for the test."""
        answered = any(approval.role in ("outsider", "verifier") for approval in self.signed)
        return answered and bool(self.outsiders) and all(person.complete for person in self.outsiders)


@dataclass(frozen=True, slots=True)
class Attacks:
    """What the attacks by computation found, in sentences, and who accepted what is grave."""

    sentences: tuple[str, ...] = ()
    accepted: tuple[Approval, ...] = ()


@dataclass(frozen=True, slots=True)
class Override:
    """A rule that asks for something else than the norm, and why."""

    protocol: str
    rule: str  # its sentence
    reason: str


@dataclass(frozen=True, slots=True)
class AnexoI:
    """All that the form is filled from; an item that is absent stays empty."""

    date: str = ""
    request: Request = field(default_factory=Request)
    variables: tuple[Variable, ...] = ()  # published ones, with the names they are published under
    withheld: tuple[str, ...] = ()  # variables of the source that are not published
    plan: Plan | None = None
    check: CheckReport | None = None
    overrides: tuple[Override, ...] = ()
    people: tuple[Person, ...] = ()
    verifiers: tuple[str, ...] = ()  # who approved the candidate as verifier
    overlaps: str = ""  # who acts in more than one role
    signatures: tuple[Approval, ...] = ()  # over the release
    attempts: Attempts | None = None
    attacks: Attacks = field(default_factory=Attacks)
    publication_date: str = ""
    update_period: str = ""


def anexo_i(data: AnexoI, language: str = "es") -> Document:
    """The whole form in a language."""
    body = anexo_i_body(data, language)
    return replace(body, blocks=(*body.blocks, *anexo_i_closing(data, language)))


def anexo_i_body(data: AnexoI, language: str = "es") -> Document:
    """The form without its end: what people sign, which nothing that comes later changes."""
    with messages.speaking(language):
        name = data.request.title or str(data.request.source.get("name", ""))
        return Document(
            title=messages.text("documents.minsal.title"),
            subtitle=messages.text("documents.minsal.subtitle", title=name) if name else "",
            language=messages.language(),
            blocks=(*_heading(data), *_variables(data), *_technique(data), *_verification(data)),
            mark=messages.text("documents.internal_mark"),
        )


def _word(key: str) -> str:
    return messages.text(f"documents.minsal.{key}")


def _heading(data: AnexoI) -> tuple[Block, ...]:
    request = data.request
    answers = tuple((_word(key), _answer(request.minsal.get(key))) for key in (*ANSWERS, "particularly_sensitive"))
    rows = (
        (_word("date"), data.date),
        (_word("department"), str(request.source.get("department", ""))),
        (_word("in_charge"), _names_in_charge(data)),
    )
    texts = ["purpose", *(key for key in ("no_sensitive_attribute",) if request.minsal.get(key))]
    stated = tuple((_word(key), str(request.minsal.get(key, ""))) for key in texts)
    return Fields(rows), Heading(_word("answers")), Checks(answers), Fields(stated)


def _answer(given: object) -> bool | None:
    return given if isinstance(given, bool) else None


def _names_in_charge(data: AnexoI) -> str:
    """Who the project says executed; before anybody is named, who the request says is responsible."""
    executors = _holding(data, "executor")
    return ", ".join(executors or [str(name) for name in data.request.source.get("responsible", ())])


def _holding(data: AnexoI, role: str) -> list[str]:
    return [person.name for person in data.people if role in person.roles]


def _variables(data: AnexoI) -> tuple[Block, ...]:
    """Each published variable once, with the box of its nature."""
    header = (_word("variable"), *(messages.text(f"documents.minsal.role.{role.value}") for role in _NATURES))
    once = {variable.name: variable for variable in data.variables}
    rows: list[tuple[Cell, ...]] = [(variable_title(variable), *_boxes(variable.role)) for variable in once.values()]
    return Heading(_word("variables")), table_of(header, rows, (2.6, 1.2, 1.5, 1.2, 1.2))


def _boxes(role: Role | None) -> tuple[bool, ...]:
    return tuple(role is nature for nature in _NATURES)


def _technique(data: AnexoI) -> tuple[Block, ...]:
    heading = Heading(_word("technique"))
    if data.plan is None or data.check is None:
        return heading, Paragraph(_word("no_technique"))
    sentences = [
        *change_sentences(data.plan.changes),
        *search_sentences(done_by(data.plan, data.check, len(data.withheld))),
    ]
    if data.withheld:
        names = quoted_names(data.withheld)
        sentences.insert(0, messages.text("documents.done.withheld", count=len(data.withheld), names=names))
    return heading, Items(tuple(sentences)), *(Note(override_sentence(override)) for override in data.overrides)


def override_sentence(override: Override) -> str:
    """What is asked instead of the norm, and why."""
    return messages.text(
        "documents.done.override", rule=override.rule, protocol=override.protocol.upper(), reason=override.reason
    )


def _verification(data: AnexoI) -> tuple[Block, ...]:
    verifiers = ((_word("verifiers"), ", ".join(data.verifiers)),)
    attempts = data.attempts
    answer = None if attempts is None else attempts.current and attempts.rows > 0
    done = ((_word("intruder_answer"), answer),)
    overlap = (Note(messages.text("documents.minsal.overlap", overlaps=data.overlaps)),) if data.overlaps else ()
    test = (Heading(_word("intruder")), Checks(done), Fields(intruder_rows(attempts, data.attacks)))
    return Fields(verifiers), *overlap, *test


def intruder_rows(attempts: Attempts | None, attacks: Attacks) -> tuple[tuple[str, str], ...]:
    """The test with a person (by whom, when, how long, with what, who answers for it) and all that was found."""
    tried = Attempts(0, 0, False) if attempts is None else attempts
    people = tried.outsiders
    sentences = ([] if attempts is None else [attempts_sentence(attempts)]) + [*attacks.sentences]
    rows = {
        "intruder_who": "; ".join(person.name for person in people),
        "intruder_when": "; ".join(person.when for person in people),
        "intruder_statement": tried.statement if people and all(person.independent for person in people) else "",
        "intruder_minutes": messages.integer(tried.minutes) if tried.rows else "",
        "intruder_sources": "; ".join(tried.sources),
        "findings": " ".join([*sentences, *(_accepted_text(approval) for approval in attacks.accepted)]),
        "intruder_result": "" if attempts is None else _word(f"intruder_{_outcome(attempts)}"),
        "intruder_signed": "; ".join(_signed_text(approval) for approval in tried.signed),
    }
    return tuple((_word(key), words) for key, words in rows.items())


def _outcome(attempts: Attempts) -> str:
    if not attempts.current or not attempts.rows:
        return "again"
    return "identified" if attempts.correct else "nobody"


def _signed_text(approval: Approval) -> str:
    fields = {"name": approval.name, "role": _role(approval), "when": approval.when[:10]}
    if not approval.note:
        return messages.text("documents.minsal.intruder_signer", **fields)
    return messages.text("documents.minsal.intruder_attested", note=approval.note, **fields)


def _role(approval: Approval) -> str:
    return messages.text(f"protocols.role.{approval.role}")


def _accepted_text(approval: Approval) -> str:
    fields = {"name": approval.name, "role": _role(approval), "when": approval.when[:10], "reason": approval.note}
    return messages.text("intruder.attacks.accepted", **fields)


def attempts_sentence(attempts: Attempts) -> str:
    """What the intruder found, in counts."""
    if not attempts.current:
        return messages.text("documents.minsal.found_old", rows=attempts.rows)
    key = "found_some" if attempts.correct else "found_none"
    fields = {"rows": attempts.rows} | ({"correct": attempts.correct} if attempts.correct else {})
    sentence = messages.text(f"documents.minsal.{key}", **fields)
    return f"{sentence} {_rate(attempts, attempts.interval)}" if attempts.interval else sentence


def _rate(attempts: Attempts, interval: tuple[float, float]) -> str:
    rate, low, high = (messages.percent(share, 1) for share in (attempts.correct / attempts.rows, *interval))
    return messages.text("documents.minsal.found_rate", rate=rate, low=low, high=high)


def anexo_i_closing(data: AnexoI, language: str = "es") -> tuple[Block, ...]:
    """The end of the form: signatures and publication, which come after what is signed."""
    with messages.speaking(language):
        dates = ((_word("publication_date"), data.publication_date), (_word("update_period"), data.update_period))
        return (
            Heading(_word("signatures")),
            Signatures(tuple(_signer(data, role) for role in SIGNERS)),
            Heading(_word("publication")),
            Fields(dates),
        )


def _signer(data: AnexoI, role: str) -> Signer:
    """The signature of a role, the last one if there are several; else the place to sign, with the name if known."""
    signed = [signature for signature in data.signatures if signature.role == role]
    if signed:
        last = signed[-1]
        return Signer(_word(role), last.name, last.when[:10], last.signature)
    holders = _holding(data, role)
    return Signer(_word(role), holders[0] if len(holders) == 1 else "")
