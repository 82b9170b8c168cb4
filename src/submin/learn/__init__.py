"""Learning from few labels, with the interface of scikit-learn.

>>> sorted(__all__)
['TotalVariationClassifier']
"""

from __future__ import annotations

try:
    from submin.learn.total_variation import TotalVariationClassifier
except ModuleNotFoundError as error:
    raise ImportError(
        f"submin.learn needs {error.name}; install it with: pip install 'submin[learn]'"
    ) from error

__all__ = ["TotalVariationClassifier"]
