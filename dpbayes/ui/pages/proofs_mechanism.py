"""Proofs, first part: the privacy loss of one mechanism as stated, proved and computed.

An audit depends on public values only, so both seats see it.
"""

import enum
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.audit.adaptive import audit_adaptive
from dpbayes.audit.entry import Audit, Hypothetical, TablePair
from dpbayes.audit.exact_class import formula
from dpbayes.audit.registry import AUDITS, Audited
from dpbayes.audit.report import AuditReport
from dpbayes.base.parameters import parameters_of
from dpbayes.base.randomness import stream
from dpbayes.base.text import escaped, latex, many, numeral, shortest
from dpbayes.base.validation import InputError
from dpbayes.boards.proofs import audit_view, outputs_view
from dpbayes.mechanisms import Calibration, Mechanism, Noise, Outcome, reads_records
from dpbayes.mechanisms.parameters import TableNoise
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import assignment
from dpbayes.sources.named_networks import NAMED
from dpbayes.ui.session.chosen import Chosen, kind_called
from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.session.kept import kept
from dpbayes.ui.session.options import SUBJECT, AuditSubject, Example
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.board import share, show
from dpbayes.ui.widgets.controls import prior_control
from dpbayes.ui.widgets.from_python import FACE, network_in_python, program, show_python, value_in_python
from dpbayes.ui.widgets.show import assumption, folded, refusals_said_once, sentence_instead, show_refusal, source

DRAWS = 40
"""Simulated releases of each table. Each takes two runs of the process."""

FEW_COLUMNS, FEW_RECORDS = 3, 20
"""Columns and records of the made-up tables. Larger ones take longer, and their losses are not larger."""


def setting_of(name: str) -> str:
    """Return the setting that holds one of the numbers that hypothetical tables are made from."""
    return name if name == "epsilon" else f"audit.{name}"


EXAMPLES: dict[str, dict[str, Any]] = {
    title: {"audit.subject": AuditSubject[entry.kind.__name__]}
    | {(setting_of(name) if entry.hypothetical else name): value for name, value in numbers.items()}
    for entry in AUDITS
    for title, numbers in entry.cases.items()
}
"""Settings at which a claim, or a hope, is refuted, by the question that they answer."""

ANSWERS = {
    "Is a sample of a trimmed posterior private?": (
        "Not as the paper trims it",
        "Trimmed further, a sample is private",
        "PosteriorSampler",
    ),
    "May the noise depend on the data?": ("Not if fitted to one table", "Noise of fixed size is safe", "LaplaceOne"),
    "Can the most likely value be chosen privately?": (
        "Not by its density",
        "The most likely small interval can be chosen privately",
        "MapExponential",
    ),
}
"""The answers of the examples, how their fault is corrected, and the mechanisms that correct it on the same tables."""


@refusals_said_once()
def mechanism_part(chosen: Chosen) -> None:
    """Show the board of the mechanism, or of an example, with its controls, and the proofs in full below."""
    example, subject = str(chosen.options("audit").example.value), chosen.options("audit").subject
    answer = ANSWERS.get(example) if subject is AuditSubject["RELEASE"] else None
    if example in EXAMPLES:
        chosen = Chosen(_settings_of(example, {} if answer else {"audit.subject": subject}))
    kind = _entry(chosen.settings).kind
    with st.container(key="beside.mechanism"):
        left, main = st.columns([2, 9], gap="medium")
    has_slider = False
    with main.container(key="proofs-board"), sentence_instead():
        if _entry(chosen.settings).outputs is not None:
            _outputs(chosen)
        else:
            has_slider = _audit(chosen, kind, example, answer)
    with left, sentence_instead():
        _choices(example, chosen.settings, answer)
        if example not in EXAMPLES:
            _controls(chosen, kind, has_slider=has_slider)
    with st.container(key="below"), sentence_instead():
        audited = audited_at(chosen, chosen.epsilon)
        with folded("Formula, assumptions and sources", key="audit.details") as is_open:
            if is_open:
                _details(chosen, audited)


def _settings_of(example: str, correction: Mapping[str, object]) -> Settings:
    """Return the settings of an example, or of its correction on the same tables, of one node where they have an n."""
    numbers = EXAMPLES[example] | ({"calibration": Calibration.CERTIFIED, **correction} if correction else {})
    settings = Settings(source="chain:1", records=numbers["audit.n"]) if "audit.n" in numbers else Settings()
    for name, value in numbers.items():
        settings = settings.with_parameter(name, value)
    return settings


def _choices(example: str, settings: Settings, answer: tuple[str, ...] | None) -> None:
    """Show the mechanism, or the way back to it, and the questions that examples answer."""
    if example in EXAMPLES or settings.options("audit").subject is not AuditSubject["RELEASE"]:
        back = partial(_open, Example["NONE"])
        st.button("Back to mine", key="audit.back", icon=":material/arrow_back:", on_click=back)
    if answer:
        corrected = partial(set_parameter, "audit.subject", AuditSubject[answer[2]])
        st.button("See the correction", key="audit.repaired", on_click=corrected)
    elif example in EXAMPLES:
        st.button("See the failure", key="audit.failing", on_click=partial(_open, Example(example)))
    else:
        own = f"{kind_called(settings.mechanism).label} (mine)"
        controls.parameter_control("audit.subject", described=replace(SUBJECT, labels=(own, *SUBJECT.labels[1:])))
        st.caption(getattr(_entry(settings).kind, "summary", ""))
    with st.container(key="audit-examples", gap="xsmall"):
        st.caption("Examples, each with its own ε")
        for option in [option for option in Example if option.value in EXAMPLES]:
            is_open = option.value == example and answer is not None
            st.button(option.value, key=f"audit.{option.name}", disabled=is_open, on_click=partial(_open, option))


def _open(example: enum.Enum) -> None:
    """Show an example, or one's own mechanism."""
    set_parameter("audit.subject", AuditSubject["RELEASE"])
    set_parameter("audit.example", example)


# What is audited


def is_of_network(settings: Settings) -> bool:
    """Whether the audited mechanism releases a network."""
    return _entry(settings).hypothetical is None


def hypothetical_of(settings: Settings) -> Hypothetical:
    """Return the hypothetical tables that are audited."""
    hypothetical = _entry(settings).hypothetical
    assert hypothetical is not None
    return hypothetical


def _entry(settings: Settings) -> Audit:
    subject = settings.options("audit").subject
    name = settings.mechanism if subject is AuditSubject["RELEASE"] else subject.name
    return next(entry for entry in AUDITS if entry.kind.__name__ == name)


def audited_at(chosen: Chosen, epsilon: float) -> Audited:
    """Return the mechanism of the settings at an epsilon, and its tables. Errors: InputError."""
    if is_of_network(chosen.settings):
        return _for_network(chosen, _entry(chosen.settings).kind, epsilon)
    tables = hypothetical_of(chosen.settings)
    numbers = {name: chosen.parameter(setting_of(name)) for name in tables.parameters}
    numbers |= {"epsilon": epsilon} if "epsilon" in numbers else {}
    sizes: dict[str, int] = {name: numbers[name] for name in ("n", "features") if name in numbers}
    return Audited(tables.mechanism_at(numbers), sizes, tables.where(numbers))


def _for_network(chosen: Chosen, kind: type[Mechanism[Outcome]], epsilon: float) -> Audited:
    settings, net = chosen.settings.with_parameter("epsilon", epsilon), chosen.network
    n = settings.records if settings.data == "synthetic" else chosen.records
    title = NAMED[settings.published].title if settings.published else ""
    over = f"the {title} network" if title else f"a network of {many(len(net.names), 'node')}"
    if "noise" in parameters_of(kind):
        settings = settings.with_parameter("noise", Noise.WHOLE)  # as a real release
    mechanism = Chosen(settings).mechanism_called(kind.__name__)
    return Audited(mechanism, {"n": n}, f"tables of {many(n, 'record')} for {over}")


def _parameters(chosen: Chosen, kind: type[Any]) -> list[str]:
    """Return the settings of the audited mechanism."""
    if is_of_network(chosen.settings):
        is_pure = "table_noise" in parameters_of(kind) and chosen.parameter("table_noise") is TableNoise.LAPLACE
        return [name for name in parameters_of(kind) if name != "noise" and not (is_pure and name == "delta")]
    return [setting_of(name) for name in hypothetical_of(chosen.settings).parameters]


def _inputs(chosen: Chosen, kind: type[Any]) -> Hashable:
    """Return what the board depends on, without epsilon."""
    names = [name for name in _parameters(chosen, kind) if name != "epsilon"]
    values = tuple(chosen.parameter(name, _defaults(chosen, kind).get(name)) for name in names)
    network = (chosen.network, chosen.settings.prior, chosen.n) if is_of_network(chosen.settings) else ()
    return kind, values, *network


def _defaults(chosen: Chosen, kind: type[Any]) -> Mapping[str, Any]:
    return chosen.defaults_for(kind) if is_of_network(chosen.settings) else {}


# The boards


def _audit(chosen: Chosen, kind: type[Any], example: str, answer: tuple[str, ...] | None) -> bool:
    """Show the audit, without a slider if it is slow or an example; return whether it has a slider."""
    value, facts = shortest(chosen.epsilon), _facts(chosen, kind)
    is_fixed, laws = example in EXAMPLES, "audit.n" in EXAMPLES.get(example, {})
    is_varied = "epsilon" in _parameters(chosen, kind) and not is_fixed
    inputs: Hashable = (_inputs(chosen, kind), example, answer)
    report_of: Callable[[Audited], AuditReport] = Audited.report
    if is_varied:
        try:
            audited = audited_at(chosen, chosen.epsilon)
            if audited.is_slow:
                report = _report(inputs, audited)
                is_varied, inputs, report_of = False, (inputs, value), lambda _: report
            with st.spinner("Searching for the best noise on this network"):
                getattr(audited.mechanism, "design", None)  # computed once for all epsilons
        except InputError as error:  # another epsilon may be possible
            show_refusal(error)
    said = (f"{example} {answer[0]}", f"{answer[1]}.") if answer else (ANSWERS[example][1], "") if is_fixed else None
    at = partial(audited_at, chosen)
    view = audit_view(kind, at, report_of, is_varied=is_varied, answer=said, shows_laws=laws).stating(facts)
    show("audit", inputs, lambda: view, value)
    share(view, value, python=lambda: show_python(python_of(chosen), "audit", chosen))
    return is_varied


def _report(inputs: Hashable, audited: Audited) -> AuditReport:
    with st.spinner("Comparing all tables …", show_time=True):
        return kept("audit.report", (inputs, audited.mechanism.epsilon), audited.report)


def _outputs(chosen: Chosen) -> None:
    """Show the losses of simulated outputs of an adaptive release against the claim."""
    audited = audited_at(chosen, chosen.epsilon)
    mechanism, tables = audited.mechanism, neighbours(audited)
    epsilon, delta = mechanism.epsilon, float(mechanism.plan.delta)
    key = (type(mechanism), epsilon, delta, mechanism.prior.network, tables.key, chosen.seed)
    rng = stream(chosen.seed, "audit", type(mechanism).__name__)
    own = {"epsilon": epsilon, "delta": delta, "rng": rng, "draws": DRAWS}
    with st.spinner(f"Simulating {DRAWS} releases of each of two tables …", show_time=True):
        result = kept("audit.outputs", key, lambda: audit_adaptive(tables.first, tables.second, **own))
    facts = _facts(chosen, type(mechanism))
    show("audit", key, lambda: outputs_view(result, tables).stating(facts))


def _facts(chosen: Chosen, kind: type[Any]) -> dict[str, str]:
    if is_of_network(chosen.settings):
        return {"mechanism": kind.label, "table": chosen.data_title}
    return {"mechanism": hypothetical_of(chosen.settings).title}


def _controls(chosen: Chosen, kind: type[Any], *, has_slider: bool) -> None:
    for name in _parameters(chosen, kind):
        if name != "epsilon" or not has_slider:
            controls.parameter_control(name, default=_defaults(chosen, kind).get(name))
    if not is_of_network(chosen.settings):
        st.caption(hypothetical_of(chosen.settings).caption)
    elif not reads_records(kind):
        if not hasattr(kind, "noise_model"):  # noise is the same under every prior
            prior_control(kind)
        st.caption("The audit uses the network and the number of records, never the records themselves.")


def neighbours(audited: Audited) -> TablePair:
    """Return two made-up tables, of which one has an odd record. Errors: InputError without records."""
    network, n = audited.mechanism.prior.network, min(audited.sizes["n"], FEW_RECORDS)
    if n == 0:
        raise InputError("A table without records has no neighbouring tables, so there is nothing to audit.")
    names, states = network.names[:FEW_COLUMNS], network.states[:FEW_COLUMNS]
    same, odd = (", ".join(map(assignment, names, [values[place] for values in states])) for place in (0, -1))
    second = Dataset(names, states, np.zeros((n, len(names)), dtype=np.int64))
    sizes = f"{many(n, 'record')} and {many(len(names), 'column')}"
    description = (
        f"Two made-up tables of {sizes}: in the second, every record is ({same}); in the first, one is ({odd})."
    )
    first = second.replace(0, [len(values) - 1 for values in states])
    return TablePair(first, second, description, key=("made up", names, states, n))


# The proofs in full


def _details(chosen: Chosen, audited: Audited) -> None:
    """Show the worst pair, the formulas with their numbers, the assumptions and the sources."""
    st.markdown(formula(audited.mechanism))
    assumption(f"Neighbours x ~ y are {audited.certified.neighbours.value}; n is public.")
    if audited.entry.kind is not object and audited.entry.outputs is None:
        report = _report(_inputs(chosen, type(audited.mechanism)), audited)
        _worst_pair(audited, report)
        st.markdown(_formulas(audited, report))
        _assumptions(chosen, audited, report)
    for reference in dict.fromkeys(one.reference for one in (audited.claimed, audited.certified) if one.is_private):
        source(reference)


def _worst_pair(audited: Audited, report: AuditReport) -> None:
    if (worst := report.worst) is None:
        st.markdown("There is no worst pair, because no record changes the release.")
        return
    st.markdown(
        f"{audited.entry.tables} {escaped(report.scope)}\n\n"
        f"- **First table:** {escaped(worst.first)}\n- **Second table:** {escaped(worst.second)}\n"
        f"- **Output with the largest privacy loss:** {escaped(worst.output)}"
    )


def _formulas(audited: Audited, report: AuditReport) -> str:
    relation = "=" if report.is_exact else r"\le"
    claim = audited.promised
    at = int(abs(report.curve.epsilons - claim.epsilon).argmin())
    value = report.curve.deltas[at]
    same = "=" if report.curve.lower[at] == value else r"\le"
    return f"""
The privacy loss of neighbouring tables $x, y$ at an output $r$ is $\\ln\\frac{{P[r|x]}}{{P[r|y]}}$. The worst case is
$\\max_{{x \\sim y}}\\max_r \\ln\\frac{{P[r|x]}}{{P[r|y]}} {relation} {latex(report.exact, 5)}$.

The privacy curve is $\\delta(\\varepsilon) = \\max_{{x \\sim y}}\\sum_r \\left(P[r|x] - e^\\varepsilon
P[r|y]\\right)_+$, here $\\delta({latex(claim.epsilon)}) {same} {latex(float(value), 3)}$.
"""


def _assumptions(chosen: Chosen, audited: Audited, report: AuditReport) -> None:
    """Show what the audit covers, and its reservations."""
    if is_of_network(chosen.settings) and not chosen.leaking_columns:
        assumption("The possible values of all columns are public, not taken from the data.")
    reservations = list[str]()
    if report.is_exact:
        assumption("The worst case is exact: the maximum is over all neighbouring tables and all outputs.")
    else:
        reservations.append(f"The worst case is between {numeral(report.at_least, 4)} and {numeral(report.exact, 4)}.")
    if chosen.leaking_columns and is_of_network(chosen.settings):
        reservations.append("The possible values of some columns are taken from the data.")
    if not report.certified.is_private:
        reservations.append("No guarantee is proved for every n and prior: the worst case is that of this setting.")
    if hasattr(audited.mechanism, "noise_scale") and getattr(audited.mechanism, "noise", Noise.REAL) is Noise.REAL:
        reservations.append(
            "A computer does not sample real numbers exactly: the last digits of Laplace noise can reveal a table "
            "(Mironov, CCS 2012). The audit is of the ideal distribution; a real release adds whole numbers instead."
        )
    st.markdown("\n".join(["Not covered:", *(f"- {text}" for text in reservations)]) if reservations else "")


def python_of(chosen: Chosen) -> str:
    """Return the code that gives what the worst neighbours lose at the claim's delta."""
    audited = audited_at(chosen, chosen.epsilon)
    network = [network_in_python(audited.mechanism.prior.network)] if is_of_network(chosen.settings) else []
    sizes = ", ".join(f"{name}={size!r}" for name, size in audited.sizes.items())
    report = f"report = dp.audit_report(mechanism, {sizes}, epsilons=[])"
    return program(FACE, *network, value_in_python("mechanism", audited.mechanism), report, "print(report.needed)")
