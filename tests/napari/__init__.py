"""Tests of napari's widget, which need it, a Qt and pytest-qt.

napari's own imports warn, so they run apart from the others:
``QT_QPA_PLATFORM=offscreen python -m pytest -o filterwarnings= tests/napari``.
"""
