"""The pages that a story may lead to, and the parts of each that it may scroll to."""

TOP = {"sentence": "", "slider": "", "picture": ""}
"""What is seen without scrolling: nothing is to be scrolled for it."""

PARTS: dict[str, dict[str, str]] = {
    "home": {},
    "data": {"column": "distribution"},
    "network": TOP | {"sizes": "costs", "noise": "noise"},
    "which_epsilon": TOP | {"errors": "which_epsilon-errors"},
    "release": TOP
    | {
        "releases": "dots",
        "question": "question",
        "rows": "rows",
        "divergences": "kl",
        "numbers": "measures",
        "coverage": "coverage-open",
        "comparison": "comparison",
    },
    "audit": TOP | {"curve": "audit-curve"},
    "ledger": {},
    "sampling": TOP | {"game": "game-told", "answers": "game-needed"},
    "hellinger": TOP | {"throws": "hellinger-throws"},
    "bounds": TOP,
    "stealth": TOP,
    "structure": TOP,
    "best_noise": TOP | {"graphs": "best_noise-graphs"},
    "robustness": TOP,
    "papers": {},
    "accuracy": TOP | {"overtaking": "accuracy-crossings"},
    "regression": TOP | {"price": "regression-epsilons"},
}
"""By page, what its parts are called in a story, and the key of each in the page; "" is the page's top."""
