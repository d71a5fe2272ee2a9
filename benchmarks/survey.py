"""Print the survey of Fair (1978) as codes: `python survey.py > survey.npz`, by a Python that has statsmodels.

The domains are those of the codebook in statsmodels. `affairs` is coded as none or some. The table is not shipped with
dpbayes: statsmodels includes it with the permission of the author.
"""

import csv
import io
import sys
from importlib.metadata import distribution
from pathlib import Path

import numpy as np

_RATES, _OCCUPATIONS = (1, 2, 3, 4, 5), (1, 2, 3, 4, 5, 6)
DOMAINS = {
    "rate_marriage": _RATES,
    "age": (17.5, 22, 27, 32, 37, 42),
    "yrs_married": (0.5, 2.5, 6, 9, 13, 16.5, 23),
    "children": (0, 1, 2, 3, 4, 5.5),
    "religious": (1, 2, 3, 4),
    "educ": (9, 12, 14, 16, 17, 20),
    "occupation": _OCCUPATIONS,
    "occupation_husb": _OCCUPATIONS,
}


def main() -> None:
    # Without an import: what statsmodels depends on may be missing.
    text = Path(str(distribution("statsmodels").locate_file("statsmodels/datasets/fair/fair.csv"))).read_text()
    records = list(csv.DictReader(io.StringIO(text)))
    columns = [[domain.index(float(record[name])) for record in records] for name, domain in DOMAINS.items()]
    columns.append([int(float(record["affairs"]) > 0) for record in records])
    out = io.BytesIO()
    cards = [*map(len, DOMAINS.values()), 2]
    np.savez_compressed(out, names=[*DOMAINS, "affairs"], cards=cards, codes=np.array(columns, dtype=np.uint8).T)
    sys.stdout.buffer.write(out.getvalue())


if __name__ == "__main__":
    main()
