"""An entry for the registry of deployments has the fields of the registry, and the texts of the release."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpbayes.base.command import HOLDS
from dpbayes.releases import signing
from dpbayes.releases.commands.main import main
from dpbayes.releases.document import read_document
from dpbayes.releases.publishing import publish
from dpbayes.releases.views.deployment import MOST_NAMED, TO_FILL_IN, _domain, registry_entry
from tests.releases.made import counts, opened, opened_in_rho, released, request_with
from tests.strategies import chain

FIELDS = {
    "basic": {
        *("name", "data_curators", "intended_use", "data_product_type", "data_product_region", "description"),
        "publication_date",
    },
    "dp_variant": {"variant_name", "data_domain", "unprotected_quantities"},
    "privacy_loss": {"privacy_unit", "privacy_unit_details", "privacy_parameters", "privacy_parameters_details"},
    "deployment_model": {
        *("model_name", "model_name_details", "actors", "release_type", "release_type_details", "data_source_type"),
        *("data_source_type_details", "access_type", "access_type_details"),
    },
    "accounting": {"post_processing", "composition"},
    "implementation": {"preprocessing_and_hyperparameter_tuning", "mechanisms", "justification"},
    "administrative": {"sources", "notes", "registry_authors"},
}
"""The fields of the registry's schema of July 2026; those of `basic` are required, and its sector is left out."""


def entry_of(document: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the entry's description of the deployment, and the certificate of the release."""
    read = read_document(document)
    entry = json.loads(registry_entry(read))
    assert set(entry) == {"url_slug", "status", "tier", "deployment"}
    assert (entry["status"], entry["tier"]) == ("Draft", 3)
    assert entry["url_slug"] == f"garden-{entry['deployment']['basic']['publication_date']}"
    return entry["deployment"], read.content["certificate"]


def test_the_fields_are_those_of_the_registry_and_the_texts_those_of_the_release(tmp_path: Path) -> None:
    document = released(tmp_path).document
    deployment, certificate = entry_of(document)
    assert list(deployment) == list(FIELDS)
    for part, fields in FIELDS.items():
        assert set(deployment[part]) <= fields
    assert set(deployment["basic"]) == FIELDS["basic"]
    assert deployment["dp_variant"]["variant_name"] == "Pure DP"
    assert deployment["dp_variant"]["data_domain"] == (
        "All tables of 60 records over 2 columns with declared states: rain, grass."
    )
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 0.5}
    assert deployment["privacy_loss"]["privacy_unit"] == certificate["unit"]
    assert deployment["accounting"]["composition"] == certificate["composed"]
    for name in ("noise", "drawn", "made_with"):
        assert certificate[name] in deployment["implementation"]["mechanisms"]
    assert json.loads(document)["hashes"]["content"] in deployment["administrative"]["sources"]
    stated = deployment["implementation"]["preprocessing_and_hyperparameter_tuning"]
    for sentence in certificate["not_covered"]:
        assert (sentence in stated) != (sentence in deployment["administrative"]["notes"])


def test_a_release_of_rho_has_its_variant_and_its_parameter(tmp_path: Path) -> None:
    request = request_with(mechanism="gaussian", rho=Fraction(3, 10))
    deployment, _ = entry_of(publish(opened_in_rho(tmp_path), request, counts()).document)
    assert deployment["dp_variant"]["variant_name"] == "Zero-concentrated DP"
    assert deployment["privacy_loss"]["privacy_parameters"] == {"rho": 0.3}


def test_the_curator_is_the_signer_of_a_signed_release(tmp_path: Path) -> None:
    pytest.importorskip("cryptography", reason='run pip install "dpbayes[sign]"')
    path = opened(tmp_path)
    first = entry_of(publish(path, request_with(), counts()).document)[0]
    assert first["basic"]["data_curators"] == [""]
    signing.make_key(path, "Statistics office", reason="the first key")
    signed = entry_of(publish(path, request_with(epsilon=Fraction(1, 4)), counts()).document)[0]
    assert signed["basic"]["data_curators"] == ["Statistics office"]
    assert signed["deployment_model"]["release_type_details"].endswith(": 1.")


def test_many_columns_are_counted() -> None:
    assert "named in the release" in _domain(chain(MOST_NAMED + 1), 5)
    assert "named in the release" not in _domain(chain(MOST_NAMED), 5)


def test_the_command_writes_the_entry_and_names_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "release.json", tmp_path / "entry.json"
    file.write_bytes(released(tmp_path).document)
    assert main(["view", str(file), "--out", str(out)]) == HOLDS
    assert out.read_bytes() == registry_entry(read_document(file.read_bytes()))
    missing = capsys.readouterr().err
    assert "Fill in" in missing
    deployment = json.loads(out.read_bytes())["deployment"]
    empty = {name for part in deployment.values() for name, value in part.items() if value in ("", [""])}
    assert empty - {"data_curators"} == set(TO_FILL_IN)
    assert all(name in missing for name in TO_FILL_IN)
