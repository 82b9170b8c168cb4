"""Hypothesis without deadlines: a busy machine or a sanitizer is no failure."""

from hypothesis import settings

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")
