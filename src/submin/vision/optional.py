"""Imports of the packages that only the vision application needs, at the moment of their use."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

PACKAGES = {
    "PIL": "Pillow",
    "matplotlib": "matplotlib",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "threadpoolctl": "threadpoolctl",
    "scipy": "scipy",
    "tifffile": "tifffile",
    "jinja2": "Jinja2",
}
OTHER_EXTRAS = {
    "nibabel": "volumes", "tifffile": "volumes", "napari": "napari", "magicgui": "napari",
}  # fmt: skip


def require(module: str) -> ModuleType:
    """Import a module of an optional package, or say how to install it.

    Parameters
    ----------
    module : str
        Dotted name, such as ``"skimage.color"``.

    Raises
    ------
    ImportError
        If the package is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        package, extra = PACKAGES.get(name, name), OTHER_EXTRAS.get(name, "vision")
        raise ImportError(
            f"work on pictures needs {package}, which can not be imported ({error}); "
            f'install it with: pip install "submin[{extra}]"'
        ) from error
