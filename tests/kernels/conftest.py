"""Hypothesis without deadlines: a busy machine or a sanitizer is no failure.

In an emulator, where each example takes several times as long, SUBMIN_EXAMPLES asks for fewer.
"""

import os

from hypothesis import settings

settings.register_profile(
    "kernels", deadline=None, max_examples=int(os.environ.get("SUBMIN_EXAMPLES", "100"))
)
settings.load_profile("kernels")
