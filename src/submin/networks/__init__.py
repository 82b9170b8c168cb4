"""Flow networks: maximum flows that conserve, and minimum cuts with and without terminals."""

from submin.networks.flow import Flow, FlowCertificate, max_flow
from submin.networks.global_cut import CutCertificate, GlobalCut, global_min_cut
from submin.networks.network import Network

__all__ = [
    "CutCertificate",
    "Flow",
    "FlowCertificate",
    "GlobalCut",
    "Network",
    "global_min_cut",
    "max_flow",
]
