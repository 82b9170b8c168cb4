"""Fixtures of the tests of files: the command line's runner and its small problem."""

from ..cli.conftest import invoke, problem

__all__ = ["invoke", "problem"]
