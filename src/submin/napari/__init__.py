"""The plugin of napari: ``napari.yaml`` names its widget; see ``widget.py``."""
