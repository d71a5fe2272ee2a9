"""AUC and accuracy of a logistic regression that learns from synthetic records, on held-out records, by scikit-learn.

`python classifiers.py < tables.npz`. The input has `train` (n, d) and `test` (m, d), `cards` (d,), and the place of the
`target` column. The regression predicts whether the target has its first state. The AUC is 1/2 if all held-out records
agree. Standard output is a line of JSON, with [AUC, accuracy]. This script does not import dpbayes.
"""

import io
import json
import sys

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score


def main() -> None:
    tables = np.load(io.BytesIO(sys.stdin.buffer.read()))
    target, cards = int(tables["target"]), tables["cards"]
    others = [j for j in range(len(cards)) if j != target]

    def features(codes: np.ndarray) -> np.ndarray:
        return np.hstack([np.eye(cards[j])[codes[:, j]] for j in others])

    wanted, true = tables["train"][:, target] == 0, tables["test"][:, target] == 0
    if wanted.all() or not wanted.any():
        scores, predicted = np.zeros(len(true)), np.full(len(true), wanted[0])
    else:
        fitted = LogisticRegression(max_iter=2000).fit(features(tables["train"]), wanted)
        scores = fitted.predict_proba(features(tables["test"]))[:, 1]
        predicted = scores > 0.5
    auc = float(roc_auc_score(true, scores)) if true.any() and not true.all() else 0.5
    print(json.dumps({"logistic regression": [auc, float((predicted == true).mean())]}))


if __name__ == "__main__":
    main()
