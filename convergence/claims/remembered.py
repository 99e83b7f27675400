"""Results that are asked for again and again, kept with the problem they belong to."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any


def remembered(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of hashable arguments that computes each result once for every instance."""

    @wraps(method)
    def recall(self: Any, *arguments: Any) -> Any:
        known = self.__dict__.setdefault("_remembered", {})
        key = (method.__name__, *arguments)
        if key not in known:
            known[key] = method(self, *arguments)
        return known[key]

    return recall
