"""Images: total-variation denoising, and photographs to masks by colour models and contrast.

scikit-image, scikit-learn, matplotlib and Pillow are imported when they are first needed.
"""

from submin.vision.colour_models import ColourModel, ColourModels, fit_colour_model
from submin.vision.contrast import contrast_weights, typical_contrast
from submin.vision.denoising import denoise_tv, tv_problem
from submin.vision.graph_cut import GraphCut, graph_cut
from submin.vision.labelling import LabelSegmentation, segment_labels
from submin.vision.lengths import length_weights
from submin.vision.masks import object_mask
from submin.vision.photographs import (
    SAMPLES,
    Sample,
    read_mask,
    read_photograph,
    sample,
)
from submin.vision.pictures import (
    comparison_picture,
    cutout_picture,
    labels_picture,
    mask_picture,
    overlay_picture,
    save_picture,
    write_pictures,
)
from submin.vision.plots import convergence_picture, path_picture, rounds_picture
from submin.vision.rounds import Round, segmentation_problem
from submin.vision.seeds import Seeds, scribble_labels
from submin.vision.segmentation import Segmentation, segment
from submin.vision.superpixels import superpixel_labels, superpixel_term

__all__ = [
    "SAMPLES",
    "ColourModel",
    "ColourModels",
    "GraphCut",
    "LabelSegmentation",
    "Round",
    "Sample",
    "Seeds",
    "Segmentation",
    "comparison_picture",
    "contrast_weights",
    "convergence_picture",
    "cutout_picture",
    "denoise_tv",
    "fit_colour_model",
    "graph_cut",
    "labels_picture",
    "length_weights",
    "mask_picture",
    "object_mask",
    "overlay_picture",
    "path_picture",
    "read_mask",
    "read_photograph",
    "rounds_picture",
    "sample",
    "save_picture",
    "scribble_labels",
    "segment",
    "segment_labels",
    "segmentation_problem",
    "superpixel_labels",
    "superpixel_term",
    "tv_problem",
    "typical_contrast",
    "write_pictures",
]
