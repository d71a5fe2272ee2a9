"""Synthetic records by smartnoise-synth, another package, in an environment of its own: `make bench-peers`.

The arguments, the input and the output are those of `peers.py`. MST and AIM are the code of smartnoise on tables that
are coded already. Its own step of coding a table is left out, which would take a part of the budget. This script does
not import dpbayes.
"""

import contextlib
import io
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from mbi import Dataset, Domain
from snsynth.aim import AIMSynthesizer
from snsynth.mst import MSTSynthesizer
from snsynth.utils import cdp_rho


def by_mst(frame: pd.DataFrame, domain: Domain, epsilon: float, delta: float, records: int) -> pd.DataFrame:
    synthesizer = MSTSynthesizer(epsilon=epsilon, delta=delta)
    synthesizer.MST(Dataset(frame.to_numpy(), domain), epsilon, delta)
    return synthesizer.undo_compress_fn(synthesizer.synthesizer.synthetic_data(rows=records)).df


def by_aim(frame: pd.DataFrame, domain: Domain, epsilon: float, delta: float, records: int) -> pd.DataFrame:
    synthesizer = AIMSynthesizer(epsilon=epsilon, delta=delta)
    synthesizer.rho = cdp_rho(epsilon, delta)
    table = Dataset(frame, domain)
    workload = synthesizer.get_workload(table, degree=synthesizer.degree, max_cells=synthesizer.max_cells)
    synthesizer.AIM(table, workload)
    return synthesizer.synthesizer.synthetic_data(rows=records).df


METHODS = {"MST": by_mst, "AIM": by_aim}


def most_memory() -> float:
    """Return the most memory of this process so far in megabytes; the counter of `resource` has that of its parent."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def main(method: str, epsilon: str, delta: str, seed: str, records: str) -> None:
    table = np.load(io.BytesIO(sys.stdin.buffer.read()))
    names = [f"col{j}" for j in range(table["codes"].shape[1])]
    frame = pd.DataFrame(table["codes"].astype(np.int64), columns=names)
    np.random.seed(int(seed))  # noqa: NPY002 - smartnoise draws choices from it; its noise has no seed
    start = time.process_time()
    with contextlib.redirect_stdout(sys.stderr):
        domain = Domain(names, table["cards"].tolist())
        synthetic = METHODS[method](frame, domain, float(epsilon), float(delta), int(records))
    seconds = time.process_time() - start
    megabytes = most_memory()
    out = io.BytesIO()
    codes = synthetic[names].to_numpy().astype(np.int64)
    np.savez_compressed(out, codes=codes, seconds=seconds, megabytes=megabytes)
    sys.stdout.buffer.write(out.getvalue())


if __name__ == "__main__":
    main(*sys.argv[1:])
