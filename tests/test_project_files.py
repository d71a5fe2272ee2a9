"""Files for other programs: containers, continuous integration, citations, checks before a commit."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import yaml

import dpbayes
from dpbayes.__main__ import _parser
from tests.browser.serving import ROOT, free_port, wait_for

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} (.+)$", DOCKERFILE, flags=re.MULTILINE)


def copied() -> list[tuple[str, str]]:
    return [(source, target) for source, target in (line.split() for line in instructions("COPY"))]


def test_the_image_copies_what_its_context_has() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert lines[0] == "*"
    assert sorted(line[1:] for line in lines if line.startswith("!")) == sorted(source for source, _ in copied())
    assert all((ROOT / source).exists() for source, _ in copied())


def test_the_words_of_the_container_are_options_of_the_dashboard() -> None:
    (entry,) = instructions("ENTRYPOINT")
    *program, own = json.loads(entry)
    assert program == ["python", "-m", "dpbayes"]
    (usual,) = (json.loads(line) for line in instructions("CMD"))
    (exposed,) = instructions("EXPOSE")
    for words in (usual, COMPOSE["services"]["dashboard"]["command"]):
        options = _parser().parse_args([own, *words])
        assert options.for_class
        assert options.port == exposed
        assert f"127.0.0.1:{exposed}:{exposed}" in COMPOSE["services"]["dashboard"]["ports"]


def test_compose_takes_rights_away() -> None:
    service = COMPOSE["services"]["dashboard"]
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    (ledger,) = (line.split("=")[1] for line in instructions("ENV") if line.startswith("DPBAYES_LEDGER"))
    assert any(volume.split(":")[1] == str(Path(ledger).parent) for volume in service["volumes"])


def test_a_user_without_rights_serves_the_copied_files_and_writes_to_none(tmp_path: Path) -> None:
    root, home, port = tmp_path / "dpbayes", tmp_path / "home", free_port()
    root.mkdir()
    for source, target in copied():
        place = root / target
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / source, place)
    files = sorted(path.relative_to(root) for path in root.rglob("*"))
    for path in (root, *root.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    home.mkdir()
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    environment["DPBAYES_LEDGER"] = str(home / "ledger.sqlite")
    command = [sys.executable, "-m", "dpbayes", "--port", str(port)]  # --class needs a network
    server = subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        assert wait_for(server, f"http://127.0.0.1:{port}"), server.stdout and server.stdout.read()
    finally:
        server.terminate()
        server.communicate()
        for path in (root, *root.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert sorted(path.relative_to(root) for path in root.rglob("*")) == files


def test_the_citation_is_of_this_version_and_of_the_papers() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == dpbayes.__version__
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    assert citation["repository-code"] == urls["Source"]
    assert {paper["title"]: paper["url"] for paper in citation["references"]}.items() <= urls.items()


def test_continuous_integration_runs_targets_that_exist_on_pythons_that_are_supported() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8"))
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    targets = re.findall(r"^make (\w+)$", "\n".join(step.get("run", "") for step in steps), flags=re.MULTILINE)
    assert targets
    assert all(re.search(rf"^{target}:", MAKEFILE, flags=re.MULTILINE) for target in targets)
    oldest = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    assert oldest == ">=" + workflow["jobs"]["wheel"]["strategy"]["matrix"]["python-version"][0]


def test_checks_before_a_commit_are_among_those_of_make_check() -> None:
    hooks: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    check = MAKEFILE.replace("$(BIN)", ".venv/bin")
    for hook in hooks:
        command = hook["entry"].removeprefix("env ").removesuffix(" --force-exclude")
        assert f"\t{command}" in check, command


def test_the_changelog_keeps_its_format() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "https://keepachangelog.com/en/1.1.0/" in text
    versions = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    assert versions[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}", version) for version in versions[1:])
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        titles = re.findall(r"^### (.+)$", part, flags=re.MULTILINE)
        assert titles or part.startswith("[Unreleased]")
        assert len(titles) == len(set(titles))
        assert set(titles) <= kinds
