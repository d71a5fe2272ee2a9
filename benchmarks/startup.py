"""What a script pays before its first result: `import dpbayes` and a first release, against numpy and scipy.stats."""

import os
import subprocess
import sys

from benchmarks.record import Record

BASELINE = "import numpy, scipy.stats"

FIRST_RELEASE = """
import numpy as np, dpbayes as dp
network, probabilities = dp.load_named("asia")
rng = np.random.default_rng(1)
counts = dp.count(network, dp.sample_dataset(network, probabilities, 1000, rng))
dp.LaplaceUpdates(prior=network, epsilon=1).simulate(counts, rng).noise_aware().query("dysp")
"""

SCRIPTS = {"import dpbayes": "import dpbayes", "import dpbayes and the first release": FIRST_RELEASE}

MOST = 2.0
"""How many times the baseline a script may take."""


def startup(*, repeats: int = 5) -> list[Record]:
    """Processor time of a new Python; what else the machine does disturbs it least. The scripts take turns."""
    took: dict[str, list[float]] = {code: [] for code in (BASELINE, *SCRIPTS.values())}
    for _ in range(repeats):
        for code, times in took.items():
            times.append(_processor_seconds(code))
    return [
        Record.of_times(name, took[code], "s", baseline=BASELINE, baseline_times=took[BASELINE], bound=MOST)
        for name, code in SCRIPTS.items()
    ]


def _processor_seconds(code: str) -> float:
    process = subprocess.Popen([sys.executable, "-c", code])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, code)
    return usage.ru_utime + usage.ru_stime
