"""Files that others write and read: a format in each module, and ``read``, which tells them apart.

>>> sorted(READERS)
['arrays', 'dimacs', 'hmetis', 'matlab', 'metis', 'sparse', 'submin', 'uai']
"""

from __future__ import annotations

from submin.files.arrays import read_arrays, read_matlab, read_sparse
from submin.files.dimacs import read_dimacs, read_network, write_dimacs
from submin.files.formats import READERS, format_of, read, write
from submin.files.graph import Graph
from submin.files.hmetis import read_hypergraph, write_hypergraph
from submin.files.metis import read_graph, write_graph
from submin.files.uai import read_uai, write_uai

__all__ = [
    "READERS",
    "Graph",
    "format_of",
    "read",
    "read_arrays",
    "read_dimacs",
    "read_graph",
    "read_hypergraph",
    "read_matlab",
    "read_network",
    "read_sparse",
    "read_uai",
    "write",
    "write_dimacs",
    "write_graph",
    "write_hypergraph",
    "write_uai",
]
