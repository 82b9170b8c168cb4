"""The kernels in NumPy: the executable specification, and the one place of each signature.

A family of kernels is one file of this folder, and this module gathers them.  The compiled kernels
(:mod:`submin.kernels.native`) have the same names and signatures and are tested against these,
which run where no compiled module is available, and are what the documentation shows.

The one primitive is the projection ``y+ = Proj_B(a)`` of ``a = y - s / c`` onto a base polytope
``B = {y : y(S) <= F(S) for all S, y(V) = F(V)}``.  Its Lagrange dual is the proximal problem
``min_x f(x) + 1/2 |x - a|^2`` of the Lovász extension f, and ``y+ = a - x``
(Bach 2013, doi:10.1561/2200000039).

Conventions shared by all kernels:

* all arrays are C-contiguous; values are float64, node, edge, group and table numbers int32,
  pointers int64;
* weights of edges are float64, or float32 and widened when they are read; ``backward`` and
  ``forward`` have the same type unless one of them, then float64, has one weight for all edges;
* ``s = u + sum_i y_i`` is the n-vector of node sums; a *project* writes ``Proj_B(y - s / c)`` to
  ``out`` and changes neither y nor s; a *sweep* is the projection with ``c = 1``, in place, with
  ``s`` kept up to date;
* the dual of a cut is one value t for each edge, within its capacities; the arrays of these values
  are called ``flow``, and are a pseudoflow: nothing makes it conserve, and the net flow out of a
  node is what it adds to ``s``;
* a block's functions have pairwise disjoint supports, so that its projection splits into
  independent ones and the result does not depend on ``threads`` (0 or less: every core), which the
  twins ignore;
* ``out`` lists the block's entries in block order and must not overlap any input;
* numbers that lead outside of another array are refused with ``ValueError`` where a contract says
  "refused out of range", perhaps when those before the wrong one are done, and trusted where it
  says "trusted"; that capacities are not negative, gains do not increase and supports are disjoint
  is trusted always;
* sizes that do not fit together are refused with ``ValueError``, and a wrong dtype or layout with
  ``TypeError``, by the compiled kernels; NumPy does as it does.
"""

from submin.kernels.cardinality import *
from submin.kernels.chains import *
from submin.kernels.closure import *
from submin.kernels.colouring import *
from submin.kernels.edges import *
from submin.kernels.flows import *
from submin.kernels.forests import *
from submin.kernels.function import *
from submin.kernels.grid import *
from submin.kernels.groups import *
from submin.kernels.labels import *
from submin.kernels.machine import *
from submin.kernels.metric import *
from submin.kernels.networks import *
from submin.kernels.sums import *
from submin.kernels.table import *
