"""Section 4 of the paper, run again: instances, gaps, theory, and how far the library goes beyond.

``reproduce`` writes ``index.html`` (one page with everything), its figures as PNG files, and
``numbers.json``.
"""

from submin.reproduce.study import reproduce

__all__ = ["reproduce"]
