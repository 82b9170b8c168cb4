"""The fenced Python of README and docs runs as it stands (their doctests run on their own)."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = [
    pytest.param(block, id=f"{path.name}-{number}")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    for number, block in enumerate(FENCE.findall(path.read_text(encoding="utf-8")))
]


@pytest.mark.parametrize("block", BLOCKS)
def test_python_block_runs(block, capsys):
    exec(compile(block, "document", "exec"), {})
    assert "proved to be a minimiser" in capsys.readouterr().out


def test_links_lead_to_files():
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"
