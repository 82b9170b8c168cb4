"""Modules with the names and signatures of other packages, for code that moves to submin.

``submin.drop_in.maxflow`` stands for PyMaxflow, ``submin.drop_in.numpymaxflow`` for numpymaxflow:
change the import, and the rest stays.  New code is shorter and faster with ``GridCut`` and
``minimize``.
"""
