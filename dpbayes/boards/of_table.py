"""The board of Explore from Python: `dp.explore`."""

from typing import Any

from dpbayes.base.text import shortest
from dpbayes.base.validation import InputError, brief
from dpbayes.boards.board import Board
from dpbayes.mechanisms import PRIVATE, LaplaceFourier, LaplaceUpdates
from dpbayes.model.dataset import Dataset, count
from dpbayes.model.network import Network
from dpbayes.model.question import Question, first_question

SEATS = ("curator", "recipient")


def explore(
    table: Dataset,
    network: Network,
    question: Question | None = None,
    *,
    mechanism: Any = LaplaceUpdates,
    seat: str = "curator",
    seed: int = 1,
) -> Board:
    """Return the board of *Explore* at every epsilon of its slider: a question, and its answers in simulated releases.

    The board shows itself in a notebook, and `board.save("explore.html")` writes one file that opens without a server.
    Without `seat="recipient"`, the board and the file contain exact values, which are not private.
    `board.frame.numbers` are the numbers at the epsilon that is shown first.

    Args:
        table: The table.
        network: The network, whose nodes are columns of the table.
        question: The question; by default about the last node that has parents and no children.
        mechanism: A mechanism for the network, whose epsilon is shown first, or its class.
        seat: "curator" for a board with exact values, which is not private, or "recipient" for one that is computed
            from a simulated release at each epsilon and from nothing else of the table.
        seed: The seed of the simulated releases.

    Returns:
        The board.

    Raises:
        InputError: The seat is unknown, the table does not fit the network, or the mechanism cannot be used.

    Example:
        >>> network, cpts = dp.load_named("sprinkler")
        >>> table = dp.sample_dataset(network, cpts, 200, 1)
        >>> board = dp.explore(table, network, dp.Question(network, "wet", "yes", {"rain": "yes"}), seat="recipient")
        >>> board.title
        'How likely is wet = yes if rain = yes?'
    """
    from dpbayes.boards.curator import CuratorInputs, shown_release
    from dpbayes.boards.explore import RecipientInputs, explore_release, explore_table
    from dpbayes.experiments.releases import at_any_epsilon  # late: few programs need the experiments

    if seat not in SEATS:
        raise InputError(f"There is no seat {brief(seat)}; choose one of {', '.join(SEATS)}.")
    counts = count(network, table)
    question = question or first_question(network)
    if question.network != network:
        raise InputError("The question is about another network. Write it with the network that you pass.")
    chosen = mechanism(prior=network, epsilon=1.0) if mechanism in PRIVATE else mechanism
    if not hasattr(chosen, "label") or isinstance(chosen, type):
        raise InputError(
            f"mechanism must be a mechanism or its class, such as dp.LaplaceUpdates, not {brief(mechanism)}."
        )
    if chosen.prior.network != network:
        raise InputError("The mechanism is for another network. Make it for the network that you pass.")
    facts, value = {"mechanism": chosen.label, "n": f"{counts.n:,}"}, shortest(float(chosen.epsilon))
    at = at_any_epsilon(chosen)
    if seat == "recipient":
        public = RecipientInputs(
            lambda epsilon, number: shown_release(at(epsilon), counts, seed + number), question, colour=chosen.colour
        )
        return explore_release(public).stating(facts).complete(value)
    fourier = (lambda epsilon: LaplaceFourier(prior=network, epsilon=epsilon)) if network.is_binary else None
    inputs = CuratorInputs(at, counts, question, fourier_at=fourier, table=table, seed=seed)
    return explore_table(inputs).stating(facts).complete(value)
