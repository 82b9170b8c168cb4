"""README and docs: their fenced Python runs as it stands, and what they name and link to exists.

Their doctests run on their own.
"""

import re
import runpy
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

import submin as sm
from submin.solve.progress import describe, describe_point

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
ANY_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
PAGES = {
    path.name: path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
BLOCKS = [
    pytest.param(block, id=f"{name}-{number}")
    for name, text in PAGES.items()
    for number, block in enumerate(FENCE.findall(text))
]


def folder(page):
    return ROOT if page == "README.md" else ROOT / "docs"


def anchors(text):
    """Return the anchors of a page's headings, by the rule of code-hosting sites."""
    headings = re.findall(r"^#+ (.*)$", ANY_FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def named(path):
    """Return what a dotted name below submin stands for."""
    found = sm
    for position, part in enumerate(path.split(".")):
        if not hasattr(found, part):
            import_module(".".join(["submin", *path.split(".")[: position + 1]]))
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("block", BLOCKS)
def test_python_block_runs(block, capsys):
    exec(compile(block, "document", "exec"), {})
    assert "proved to be a minimiser" in capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_and_headings(page):
    for target in re.findall(r"\]\(([^):]+)\)", PAGES[page]):
        file, _, anchor = target.partition("#")
        path = folder(page) / file if file else folder(page) / page
        assert path.exists(), f"{page} links to {target}"
        if anchor:
            assert anchor in anchors(path.read_text(encoding="utf-8")), f"{page} links to {target}"


@pytest.mark.parametrize("page", PAGES)
def test_examples_render_as_code(page):
    """Lines that start with >>> are quotations in Markdown; indented ones are code."""
    assert not re.search(r"^>>>", ANY_FENCE.sub("", PAGES[page]), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_names_exist(page):
    for path in re.findall(r"\b(?:sm|submin)\.([a-zA-Z_]\w*(?:\.\w+)*)", PAGES[page]):
        named(path)


@pytest.fixture(scope="module")
def reference():
    """The script that makes the page of all names."""
    pytest.importorskip("sklearn")
    return SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "reference.py")))


def test_the_reference_has_every_public_name_once():
    listed = re.findall(r"^\* `sm\.(\w+)[`(]", PAGES["reference.md"], re.MULTILINE)
    assert sorted(listed) == sorted(sm.__all__)


def test_the_reference_is_that_of_the_docstrings(reference):
    assert reference.page() == PAGES["reference.md"], "run python docs/reference.py"


def test_the_site_has_a_page_for_every_public_name(reference):
    pages = reference.site_pages()
    rooms = "".join(text for name, text in pages.items() if name != "reference.md")
    listed = re.findall(r"^   (submin\.[\w.]+)$", rooms, re.MULTILINE)
    assert sorted(listed) == sorted(set(listed))
    assert listed == re.findall(r"^   (submin\.[\w.]+)$", pages["reference.md"], re.MULTILINE)
    top = [path for path in listed if path.count(".") == 1]
    assert sorted([*top, "submin.__version__"]) == sorted(f"submin.{name}" for name in sm.__all__)


def test_every_page_is_in_the_site():
    linked = PAGES["index.md"] + PAGES["guide.md"]
    for page in PAGES.keys() - {"README.md", "index.md"}:
        assert re.search(rf"^(.*<)?{page.removesuffix('.md')}>?$", linked, re.MULTILINE), page


def test_progress_is_shown_as_it_is():
    record = sm.Record(40, 120, 2.96, 8e-4, 4e3, 2280098.18, 2276548.18, 79560)
    assert describe(record) in PAGES["recipes.md"]
    assert describe_point(record, 2e-6) in PAGES["recipes.md"]
