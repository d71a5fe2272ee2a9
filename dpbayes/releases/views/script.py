"""A script of a few lines that checks a release and asks it one question: for those who do it again."""

from dpbayes.mechanisms.release import ReleasedPosterior
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.document import ReleaseDocument, release_of
from dpbayes.releases.views.reading import reading_of

_POSTERIORS = {
    Reading.NOISE_AWARE: "posterior = release.noise_aware()  # release.posterior is naive",
    Reading.AS_REAL: "posterior = release.posterior  # naive; release.noise_aware() includes the noise",
}


def python_script(document: ReleaseDocument, file: str = "release.json", reading: Reading = Reading.NOISE_AWARE) -> str:
    """Return the script; it reads `file`. Errors: those of `release_of`."""
    network, release = document.request.network, release_of(document)
    is_posterior = isinstance(release.outcome, ReleasedPosterior)
    asked = [_POSTERIORS[reading_of(release, reading)], f"print(posterior.query({network.names[-1]!r}))"]
    return "\n".join(
        [
            '"""Verify a release and query it. Needs: pip install dpbayes."""',
            "from pathlib import Path",
            "",
            "from dpbayes.releases.document.release import read_document, release_of",
            "from dpbayes.releases.verify import verify",
            "",
            f"data = Path({file!r}).read_bytes()",
            "for check in verify(data).checks:",
            '    print("holds" if check.holds else "FAILS", check.sentence)',
            "release = release_of(read_document(data))",
            "print(release.guarantee)",
            *(asked if is_posterior else ["print(release.outcome.probabilities)"]),
            "",
        ]
    )
