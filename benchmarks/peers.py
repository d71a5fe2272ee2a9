"""Synthetic records by dpmm, another package, in an environment of its own: `make bench-peers`.

`python peers.py METHOD EPSILON DELTA SEED RECORDS < table.npz > out.npz`. The table has `codes` (n, d) and `cards`
(d,). Standard output has `codes`, the `seconds` of processor time and the `megabytes` of memory at most. This script
does not import dpbayes.
"""

import io
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from dpmm.pipelines import AIMPipeline, MSTPipeline, PrivBayesPipeline

PIPELINES = {"MST": MSTPipeline, "AIM": AIMPipeline, "PrivBayes": PrivBayesPipeline}


def most_memory() -> float:
    """Return the most memory of this process so far in megabytes; the counter of `resource` has that of its parent."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def main(method: str, epsilon: str, delta: str, seed: str, records: str) -> None:
    table = np.load(io.BytesIO(sys.stdin.buffer.read()))
    names = [f"c{j}" for j in range(table["codes"].shape[1])]
    frame = pd.DataFrame(table["codes"].astype(np.int64), columns=names)
    start = time.process_time()
    pipeline = PIPELINES[method](epsilon=float(epsilon), delta=float(delta), disable_processing=True, n_jobs=1)
    pipeline.fit(frame, domain=dict(zip(names, table["cards"].tolist(), strict=True)), random_state=int(seed))
    synthetic = pipeline.generate(n_records=int(records), random_state=int(seed))
    seconds = time.process_time() - start
    megabytes = most_memory()
    out = io.BytesIO()
    codes = synthetic[names].to_numpy().astype(np.int64)
    np.savez_compressed(out, codes=codes, seconds=seconds, megabytes=megabytes)
    sys.stdout.buffer.write(out.getvalue())


if __name__ == "__main__":
    main(*sys.argv[1:])
