"""Volumes: files of NIfTI and TIFF, and an object cut out of them by scribbles.

nibabel and tifffile are imported when they are first needed: ``pip install "submin[volumes]"``.
"""

from submin.volumes.files import Volume, holds_volume, read_volume
from submin.volumes.pictures import slices_picture
from submin.volumes.segmentation import VolumeSegmentation, segment_volume

__all__ = [
    "Volume",
    "VolumeSegmentation",
    "holds_volume",
    "read_volume",
    "segment_volume",
    "slices_picture",
]
