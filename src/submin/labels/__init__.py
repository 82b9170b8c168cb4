"""More than two labels: energies of labellings, minimised with a proven bound."""

from submin.labels.api import minimize_labels
from submin.labels.certificate import LabelCertificate, verify_labels
from submin.labels.distances import Linear, Potts, Quadratic
from submin.labels.groups import RobustPotts
from submin.labels.label_costs import LabelCosts
from submin.labels.ordered import minimize_ordered
from submin.labels.persistency import proved_labels
from submin.labels.problem import LabelProblem
from submin.labels.result import LabelRecord, LabelResult

__all__ = [
    "LabelCertificate",
    "LabelCosts",
    "LabelProblem",
    "LabelRecord",
    "LabelResult",
    "Linear",
    "Potts",
    "Quadratic",
    "RobustPotts",
    "minimize_labels",
    "minimize_ordered",
    "proved_labels",
    "verify_labels",
]
