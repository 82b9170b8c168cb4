"""Settings of the site.  `make docs` copies the pages to build/site/pages and builds them there."""

import re

import submin

project = "submin"
author = "The submin developers"
copyright = author
version = release = submin.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["templates"]
exclude_patterns = ["**/GALLERY_HEADER.*"]
nitpicky = True

myst_heading_anchors = 3
myst_enable_extensions = ["attrs_inline"]

autodoc_typehints = "none"  # numpydoc has the types, in words
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = True  # links from types to classes, and from nothing else
numpydoc_xref_aliases = {name: f"submin.{name}" for name in submin.__all__}
numpydoc_xref_ignore = "all"
highlight_language = "none"  # of formulas; sessions and fences say what they are

EXAMPLES = "../../../examples"
sphinx_gallery_conf = {
    "examples_dirs": EXAMPLES,
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "subsection_order": [
        f"{EXAMPLES}/{name}" for name in ("images", "graphs", "functions", "solving")
    ],
    "abort_on_example_error": True,
    "capture_repr": (),
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "write_computation_times": False,
    "min_reported_time": 3600,
    "doc_module": ("submin",),
    "backreferences_dir": "reference/examples",
    "reference_url": {"submin": None},
}

html_theme = "pydata_sphinx_theme"
html_title = "submin"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "submin"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], "gallery/index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": False,
    "show_toc_level": 2,
}
html_sidebars = {"index": [], "install": [], "gallery/index": []}
html_context = {"default_mode": "auto"}


def without_links_to_sources(app, page, source):
    """Keep the words of links that lead out of docs/, where the site has nothing."""
    if "/" not in page:
        source[0] = re.sub(r"\[([^\]]*)\]\(\.\./[^)]*\)", r"\1", source[0])


def colour_sessions(app, document):
    """Show indented blocks that are sessions of Python as such."""
    from docutils.nodes import literal_block

    for block in document.findall(literal_block):
        if block.astext().startswith(">>>"):
            block["language"] = "pycon"


def setup(app):
    """Connect what changes pages, and leave out links to those of Python and NumPy."""
    from numpydoc.xref import DEFAULT_LINKS

    DEFAULT_LINKS.clear()
    app.connect("source-read", without_links_to_sources)
    app.connect("doctree-read", colour_sessions)
