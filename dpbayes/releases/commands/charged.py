"""`release` and `adaptive`, which are charged to a dataset's budget; and `plan`."""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dpbayes.base.command import HOLDS, in_help, say, warn
from dpbayes.base.output import ROOM, require_output, write_output
from dpbayes.base.parameters import Parameter
from dpbayes.base.validation import InputError, whole_number
from dpbayes.mechanisms import MECHANISMS, RELEASABLE, releasable
from dpbayes.mechanisms.adaptive.plan import plan_for
from dpbayes.mechanisms.base import rule_for
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.posteriors.prior_rules import PriorKind, PriorRule, prior_rule
from dpbayes.releases import ledger
from dpbayes.releases.commands import tables
from dpbayes.releases.commands.accounts import MOST_READ, add_ledger, left_of
from dpbayes.releases.document import read_document
from dpbayes.releases.document.adaptive import AdaptiveRequest, read_adaptive
from dpbayes.releases.document.plan import PlanFile, PlannedQuestion, PlannedRequest, read_plan, write_plan
from dpbayes.releases.document.promises import parsed_budget, parsed_epsilon, parsed_promise, parsed_rho
from dpbayes.releases.document.request import DomainChoice, ReleaseRequest
from dpbayes.releases.publishing import (
    Chargeable,
    Published,
    publish,
    publish_adaptive,
    require_declared,
    shown_again,
)
from dpbayes.sources.columns import Column
from dpbayes.sources.domains import read_domains

LONGEST_VALUE = 64
"""The largest number of bytes of a cell in a document: its integer, its prior, and its share of the labels."""

# release


def add_release(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `release`."""
    _add_charged(parser)
    tables.add_data_or_source(parser)
    _add_request(parser, required=False)
    parser.add_argument(
        "--graph-unseen",
        action="store_true",
        help="confirm that the graph was chosen without looking at the records, which is required",
    )
    tables.add_out(parser, "the file for the release, such as release.json")


def _add_request(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add the arguments of a request, which `release` and `plan` share."""
    parser.add_argument("--epsilon", help="the epsilon that is charged, a decimal")
    parser.add_argument("--rho", help="for Gaussian noise, the rho that is charged, a decimal, instead of --epsilon")
    parser.add_argument("--delta", help="for Gaussian noise, the delta that belongs to --epsilon; rho is charged")
    tables.add_network(parser, required=required)
    parser.add_argument(
        "--mechanism", required=required, choices=list(RELEASABLE), help="a mechanism whose noise is sampled exactly"
    )
    parser.add_argument(
        "--prior",
        help="capped, bdeu, or the Dirichlet parameter of every cell; capped:8 and bdeu:2 state the equivalent sample "
        "size (default: capped; 1 for map)",
    )
    for name, parameter in _settings().items():
        parser.add_argument(f"--{name}", metavar="NUMBER", help=f"{in_help(parameter.description)} ({_whose(name)})")


def _add_charged(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that `release` and `adaptive` share."""
    add_ledger(parser)
    _add_declared(parser, required=False)
    parser.add_argument(
        "--plan",
        type=Path,
        metavar="FILE",
        help="a plan, the file that states what is released; it may also contain the domains",
    )
    parser.add_argument("--again", action="store_true", help="sample new noise for an earlier release and charge again")


def _add_declared(parser: argparse.ArgumentParser, *, required: bool) -> None:
    parser.add_argument("--dataset", required=True, metavar="ID", help="the name of the dataset in the ledger")
    tables.add_domains(parser, required=required)
    parser.add_argument(
        "--domains-published", action="store_true", help="confirm that the domains are from a published description"
    )


def release(args: argparse.Namespace) -> int:
    """Make a release and write its document. Errors: InputError, OSError."""
    if not args.graph_unseen:
        raise InputError(
            "A graph that was chosen from the records reveals information about them. Add --graph-unseen if no record "
            "was used, or let an adaptive release choose the graph."
        )
    path = _ledger_of(args)
    plan = _plan(args, ReleaseRequest)
    data = tables.table_of(args, _declared(args, plan))
    drawn = tables.network_of(args.network, data) if plan is None else plan.network
    counts = tables.counts_of(drawn, data)
    request = _requested(args, drawn, counts.n) if plan is None else _planned(args, plan, counts.n)
    if isinstance(data, Dataset):
        _remember(path, args.dataset, data)
    else:
        warn(ledger.RECORDS_ELSEWHERE)

    def make(after: int) -> Published:
        published = publish(path, request, counts, after=after, progress=tables.share_line("Sampling"))
        print(file=sys.stderr)
        return published

    require_output(args.out, [path], force=args.force, room=ROOM + LONGEST_VALUE * drawn.cell_count)
    published = _charged(path, request, make, again=args.again)
    sentences = read_document(published.document).content["sentences"]
    return _write(args, path, published.row, published.document, sentences)


def _ledger_of(args: argparse.Namespace) -> Path:
    """Return the ledger, before anything that takes long. Errors: InputError for an invalid output or dataset."""
    path = ledger.ledger_path(args.ledger)
    require_output(args.out, [path, *tables.files_read(args)], force=args.force)
    ledger.account_of(path, args.dataset)
    return path


def _requested(args: argparse.Namespace, drawn: Network, n: int) -> ReleaseRequest:
    """Return the request that the arguments state. Errors: InputError."""
    return ReleaseRequest(
        dataset=args.dataset,
        network=drawn,
        mechanism=args.mechanism,
        **_loss(args),
        n=n,
        prior=_prior(args, drawn),
        settings={name: getattr(args, name) for name in _settings() if getattr(args, name) is not None},
        domains=_domain_choice(args),
    )


def _prior(args: argparse.Namespace, drawn: Network) -> tuple[str, ...]:
    """Return the prior of a request: the stated one, or the usual one of the mechanism. Errors: InputError."""
    if args.prior is None:
        kind = next(kind for kind in MECHANISMS if kind.label == releasable(args.mechanism).label)
        return rule_for(kind, PriorRule()).decimals(drawn)
    rule = prior_rule(args.prior)
    # A decimal stays as it is typed: a request has it exactly.
    return (args.prior,) if rule.kind is PriorKind.SYMMETRIC else rule.decimals(drawn)


def _loss(args: argparse.Namespace) -> dict[str, Any]:
    """Return the typed epsilon, rho, or epsilon and delta. Errors: InputError for other combinations."""
    if (args.epsilon is None) == (args.rho is None) or (args.epsilon is None and args.delta is not None):
        raise InputError(
            "A release has an epsilon or a rho. State either --epsilon or --rho, or --epsilon with --delta for "
            "Gaussian noise."
        )
    if args.delta is not None:
        return {"stated": parsed_promise(args.epsilon, args.delta)}
    return {"epsilon": parsed_epsilon(args.epsilon)} if args.rho is None else {"rho": parsed_rho(args.rho)}


def _domain_choice(args: argparse.Namespace) -> DomainChoice:
    return DomainChoice.PUBLISHED if args.domains_published else DomainChoice.CURATOR


def _remember(path: Path, dataset: str, data: Dataset) -> None:
    """Store the hash of the table in the ledger, and print doubts about its name."""
    for doubt in ledger.remember_table(path, dataset, data):
        warn(doubt)


def _declared(args: argparse.Namespace, plan: PlanFile | None) -> tuple[Column, ...]:
    """Return the domains of the columns in use, of a description or a plan.

    Errors: InputError if they reveal records, or if there are none; OSError.
    """
    if args.domains is None and (plan is None or not plan.columns):
        raise InputError("A release needs declared domains. State --domains, or --plan with a plan that contains them.")
    columns = read_domains(args.domains.read_bytes()) if args.domains is not None or plan is None else plan.columns
    require_declared(columns)
    return tuple(column.domain for column in columns if column.use and column.domain is not None)


# A plan


def add_plan(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `plan`."""
    _add_declared(parser, required=True)
    parser.add_argument("--records", required=True, help="the number of records of the table, which is public")
    _add_request(parser, required=True)
    parser.add_argument("--target", metavar="NODE", help="the node of the question that the release should answer")
    tables.add_given(parser)
    tables.add_out(parser, "the file for the plan, such as plan.json")


def write_request(args: argparse.Namespace) -> int:
    """Write a request for a release without its table. Errors: InputError, OSError."""
    require_output(args.out, tables.files_read(args), force=args.force)
    columns = read_domains(args.domains.read_bytes())
    require_declared(columns)
    domains = tables.declared_columns(args.domains)
    names, states = tuple(column.name for column in domains), tuple(column.domain for column in domains)
    drawn = tables.network_of(args.network, Dataset(names, states, np.zeros((0, len(names)), dtype=np.uint8)))
    n = whole_number("The number of records", args.records, low=1, high=MOST_READ)
    request = _requested(args, drawn, n)
    if args.given and args.target is None:
        raise InputError("--given belongs to a question. State its node by --target.")
    question = None if args.target is None else PlannedQuestion(args.target, tables.evidence_of(args, drawn))
    write_output(args.out, write_plan(PlanFile(request, columns, question)), force=args.force)
    say(f"Written to {args.out}. The plan contains no record. `release --plan {args.out}` makes the release.")
    return HOLDS


_REQUESTED = ("network", "mechanism", "epsilon", "rho", "delta", "prior")


_NEEDED = {
    ReleaseRequest: ("network", "mechanism"),
    AdaptiveRequest: ("epsilon",),
}
"""The arguments of a request that have no default."""


def _plan(args: argparse.Namespace, kind: type[PlannedRequest]) -> PlanFile | None:
    """Return the plan that was named. Errors: InputError for another kind, or with arguments that the plan states."""
    stated = [name for name in (*_REQUESTED, *_settings()) if getattr(args, name, None)]
    if args.plan is None:
        needed = _NEEDED[kind]
        if missing := [f"--{name}" for name in needed if not getattr(args, name)]:
            raise InputError(f"State {' and '.join(missing)}, or a plan by --plan.")
        return None
    if stated:
        raise InputError(f"The plan states the request. Leave out {', '.join(f'--{name}' for name in stated)}.")
    plan = read_plan(args.plan.read_bytes())
    if not isinstance(plan.request, kind):
        commands = {ReleaseRequest: "release", AdaptiveRequest: "adaptive"}
        raise InputError(f"The plan is for the command `{commands[type(plan.request)]}`.")
    return plan


def _planned(args: argparse.Namespace, plan: PlanFile, n: int) -> Any:
    """Return the request of a plan for the table at hand. Errors: InputError for another number of records."""
    if plan.request.n != n:
        raise InputError(
            f"The plan is for {plan.request.n:,} records; the table has another number. Correct it in the plan."
        )
    return replace(plan.request, dataset=args.dataset)


def _settings() -> dict[str, Parameter]:
    return {name: parameter for entry in RELEASABLE.values() for name, parameter in entry.settings.items()}


def _whose(name: str) -> str:
    return ", ".join(mechanism for mechanism, entry in RELEASABLE.items() if name in entry.settings)


# adaptive


def add_adaptive(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `adaptive`."""
    _add_charged(parser)
    tables.add_data(parser, required=True)
    parser.add_argument("--epsilon", help="the epsilon of the guarantee, a decimal")
    parser.add_argument(
        "--delta",
        help="the delta of the guarantee, a decimal; with a delta above 0, rho is charged, and otherwise epsilon "
        "(default: 0)",
    )
    tables.add_out(parser, "the file for the release, such as release.json")


def adaptive(args: argparse.Namespace) -> int:
    """Make an adaptive release and write its document. Errors: InputError, OSError."""
    path, published = _of_records(args, AdaptiveRequest, _adaptive, publish_adaptive)
    sentences = read_adaptive(published.document).content["sentences"]
    return _write(args, path, published.row, published.document, sentences)


def _adaptive(args: argparse.Namespace, data: Dataset) -> AdaptiveRequest:
    plan = plan_for(*parsed_budget(args.epsilon, "0" if args.delta is None else args.delta))
    return AdaptiveRequest.of(args.dataset, data, plan, _domain_choice(args))


def _of_records(
    args: argparse.Namespace,
    kind: type[AdaptiveRequest],
    request_of: Callable[[argparse.Namespace, Dataset], AdaptiveRequest],
    publish_of: Callable[..., Published],
) -> tuple[Path, Published]:
    """Return the ledger, and a release of the records of a file. Errors: InputError, OSError."""
    path = _ledger_of(args)
    plan = _plan(args, kind)
    data = tables.table_of_file(args.data, _declared(args, plan))
    request = request_of(args, data) if plan is None else _planned(args, plan, data.n)
    _remember(path, args.dataset, data)
    return path, _charged(path, request, lambda after: publish_of(path, request, data, after=after), again=args.again)


# Charging


def _charged(path: Path, request: Chargeable, make: Callable[[int], Published], *, again: bool) -> Published:
    """Return the release of this request at no cost; if there is none, or with `again`, make a new one."""
    before = shown_again(path, request)
    if before is not None and not again:
        warn("This release exists already. The same release is written again at no cost.")
        return before
    past = ledger.spendings_on(path, request.dataset, request.question) if again else ()
    return make(past[-1].row if past else 0)


def _write(args: argparse.Namespace, path: Path, row: int, data: bytes, sentences: Sequence[str]) -> int:
    """Write a release, and print its sentences and what is left of the budget.

    Errors: InputError that says how to get the release at no cost, if it cannot be written.
    """
    try:
        write_output(args.out, data, force=args.force)
    except OSError as error:
        raise InputError(
            f"The output {args.out} cannot be written: {error.strerror}. Row {row} of the ledger "
            f"{path} contains the release. Run this command again without --again and with another "
            f"--out, or run python -m dpbayes ledger export {row} --out FILE. Neither costs any budget."
        ) from None
    say("\n".join(sentences))
    say(f"Written to {args.out} (row {row} of the ledger). {left_of(path, args.dataset)}")
    return HOLDS
