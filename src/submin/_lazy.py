"""Attributes that are computed when they are first asked for.

Before Python 3.12 ``functools.cached_property`` holds a lock meanwhile, one for all instances: a
process that is forked while another thread computes such an attribute waits for it forever.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class lazy(Generic[Value]):  # a decorator, like property
    """A property whose first value stays in the instance; two threads may both compute it.

    Examples
    --------
    >>> class Circle:
    ...     radius = 2.0
    ...
    ...     @lazy
    ...     def area(self):
    ...         return 3.14 * self.radius**2
    >>> circle = Circle()
    >>> circle.area, "area" in vars(circle)
    (12.56, True)
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: object | None, owner: type) -> Self | Value:
        """Compute the value; the next time it is found in the instance before this is asked."""
        if instance is None:
            return self
        value = self.compute(instance)
        vars(instance)[self.name] = value
        return value
