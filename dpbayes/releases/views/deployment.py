"""An entry for the public registry of deployments of differential privacy, as far as a release states its fields.

The names of the fields are those of OpenDP's Differential Privacy Deployments Registry: the schema in the repository
opendp/deployments-registry-data, as of July 2026. The entry is JSON, which is also YAML, the format of the registry.
"""

import json
import re

from dpbayes.base.amounts import Amount, Rho, number_of
from dpbayes.base.text import many
from dpbayes.model.network import Network
from dpbayes.releases.document import ReleaseDocument
from dpbayes.releases.document.request import ReleaseRequest
from dpbayes.releases.document.signature import signature_line

MOST_NAMED = 24
"""Columns that the data domain names; of more, their number is given."""

TO_FILL_IN = ("intended_use", "data_product_region", "registry_authors")
"""Required fields that only the publisher knows: they are empty in the entry."""


def registry_entry(document: ReleaseDocument) -> bytes:
    """Return a draft of the registry's entry of a release.

    Args:
        document: The release.

    Returns:
        JSON in UTF-8. The required fields that no release states are empty texts, and the curator's name is one too
        where the release is not signed. Other fields that it does not state are left out.
    """
    request, content = document.request, document.content
    certificate = content["certificate"]
    day = document.drawn.time[:10]
    slug = re.sub(r"\W+", "-", request.dataset.lower()).strip("-")
    graph, domains, *others = certificate["not_covered"]
    deployment = {
        "basic": {
            "name": f"Release of {request.dataset}",
            "data_curators": [content.get("signer", {}).get("name", "")],
            "intended_use": "",
            "data_product_type": "Summary statistics",
            "data_product_region": "",
            "description": " ".join(content["sentences"]),
            "publication_date": day,
        },
        "dp_variant": {
            "variant_name": "Zero-concentrated DP" if isinstance(request.cost, Rho) else "Pure DP",
            "data_domain": _domain(request.network, request.n),
            "unprotected_quantities": _public(request),
        },
        "privacy_loss": {
            "privacy_unit": certificate["unit"],
            "privacy_unit_details": certificate["neighbours"],
            "privacy_parameters": _parameters(request.cost),
            "privacy_parameters_details": certificate["promise"],
        },
        "deployment_model": {
            "model_name": "Central",
            "actors": certificate["trust"],
            "release_type": "One release",
            "release_type_details": f"Earlier releases of the same dataset: {document.composed.releases:,}.",
            "access_type": "Non-interactive",
        },
        "accounting": {
            "post_processing": "Posteriors, networks and synthetic records are computed from the released integers.",
            "composition": certificate["composed"],
        },
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": f"{graph} {domains}",
            "mechanisms": " ".join(
                [f"{request.entry.label}.", *(certificate[name] for name in ("noise", "drawn", "made_with"))]
            ),
        },
        "administrative": {
            "sources": (
                f"SHA-256 of the content of release.json: {content['hashes']['content']}. {signature_line(content)} "
                "Command that checks the file: python -m dpbayes verify release.json"
            ),
            "notes": f"Not covered by the guarantee: {' '.join(others)}",
            "registry_authors": [""],
        },
    }
    entry = {"url_slug": f"{slug}-{day}", "status": "Draft", "tier": 3, "deployment": deployment}
    return (json.dumps(entry, indent=1, ensure_ascii=False) + "\n").encode()


def _public(request: ReleaseRequest) -> str:
    """Name what the guarantee does not protect."""
    prices = ["the distribution of the noise over the tables"] if request.prices else []
    return f"{', '.join(['The number of records', 'the columns', 'their states', 'the graph', *prices])} and the prior."


def _parameters(cost: Amount) -> dict[str, float]:
    return {"rho" if isinstance(cost, Rho) else "epsilon": float(number_of(cost))}


def _domain(network: Network, n: int) -> str:
    """Say which tables the guarantee is about."""
    names = ", ".join(network.names) if len(network.names) <= MOST_NAMED else "named in the release"
    return f"All tables of {n:,} records over {many(len(network.names), 'column')} with declared states: {names}."
