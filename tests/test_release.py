"""A release has one version: in the package, CITATION.cff, the changelog and its tag."""

import re
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

import submin as sm

ROOT = Path(__file__).parents[1]
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def project():
    return tomllib.loads(text("pyproject.toml"))


def tags_of_this_commit():
    if not (ROOT / ".git").exists():
        return []
    run = subprocess.run(
        ["git", "tag", "--points-at", "HEAD"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return [tag for tag in run.stdout.split() if tag.startswith("v")]


def test_the_version_is_written_once():
    given = project()
    assert given["project"]["dynamic"] == ["version"]
    assert given["tool"]["scikit-build"]["metadata"]["version"]["input"] == "src/submin/__init__.py"
    assert text("src/submin/__init__.py").count(f'__version__ = "{sm.__version__}"') == 1


def test_the_installed_version_is_that_of_the_package():
    try:
        assert version("submin") == sm.__version__
    except PackageNotFoundError:
        pytest.skip("submin is not installed")


def test_the_citation_has_the_version():
    assert re.findall(r"^version: (\S+)$", text("CITATION.cff"), re.MULTILINE) == [sm.__version__]


def test_the_changelog_starts_with_this_version_or_what_comes_after_it():
    """Headings are "Unreleased" or "VERSION - YYYY-MM-DD", the newest first, each once."""
    headings = HEADING.findall(text("CHANGELOG.md"))
    releases = [heading for heading in headings if heading != "Unreleased"]
    assert headings in (releases, ["Unreleased", *releases])
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d", heading) for heading in releases)
    versions = [heading.split()[0] for heading in releases]
    keys = [tuple(map(int, found.split("."))) for found in versions]
    assert keys == sorted(set(keys), reverse=True)
    assert not versions or versions[0] == sm.__version__


def test_tags_are_the_version_and_in_the_changelog():
    tags = tags_of_this_commit()
    assert tags in ([], [f"v{sm.__version__}"])
    for tag in tags:
        assert HEADING.findall(text("CHANGELOG.md"))[0].startswith(f"{tag[1:]} - ")


def test_classifiers_name_the_pythons_that_the_workflows_test():
    classifiers = "\n".join(project()["project"]["classifiers"])
    named = set(re.findall(r":: (3\.\d+)$", classifiers, re.MULTILINE))
    suite = set(re.findall(r'python: "(3\.\d+)"', text(".github/workflows/tests.yml")))
    assert named == suite
