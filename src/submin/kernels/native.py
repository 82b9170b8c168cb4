"""The compiled kernels: the same functions as :mod:`submin.kernels.reference`, in C++17.

They release the interpreter lock, use up to ``threads`` threads of a small pool of their own, and
give the same bits for any number of them and for any width of the machine's vectors. The
environment variable ``SUBMIN_VECTORS`` (``portable``, ``avx2`` or ``avx512``) chooses a width
instead of the widest, to test it or to compare times; ``ValueError`` where the machine lacks it.

Arrays that do not fit together and element numbers out of range are refused with ``ValueError``.
Members, edges and orders are looked at as they come, so that those before the wrong one may be done
by then, each as a whole.  Only the address that ``evaluate_sets`` takes is trusted, and the
memory of ``colour`` and ``linear_forests`` grows with the largest number.

No other module imports ``submin._native``.
"""

from submin import _native
from submin._native import *
from submin.kernels import reference

if missing := {name for name in dir(reference) if name[0] != "_"} - set(dir(_native)):
    raise ImportError(f"submin._native is of another version, without {', '.join(sorted(missing))}")

_native.vector_width()  # judges the variable before a kernel needs it
