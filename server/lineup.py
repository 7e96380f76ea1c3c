"""A session's contexts in the order they speak, and how a client's names find them.

Knows: ids, sids, who is before whom, which ids have ended. Does not know: audio, time, the wire.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

from server.context import Context
from streaming.errors import ContextGone, UnknownContext

ENDED_IDS_KEPT = 256
"""Ids whose late text is told ``context_gone``; older ones are ``unknown_context``."""

SIDS = 65_535


@dataclass(slots=True)
class Lineup:
    """The active contexts, first to last; the first is the one that is being heard."""

    _active: dict[str, Context] = field(default_factory=dict)
    _ended: OrderedDict[str, None] = field(default_factory=OrderedDict)
    _implicit_count: int = 0
    _last_sid: int = 0

    def __len__(self) -> int:
        return len(self._active)

    def __iter__(self) -> Iterator[Context]:
        return iter(tuple(self._active.values()))

    def __contains__(self, name: str) -> bool:
        return name in self._active

    def add(self, context: Context) -> None:
        """The newest context speaks last."""
        self._active[context.id] = context
        self._ended.pop(context.id, None)

    def remove(self, context: Context) -> None:
        """The context has ended; its id is remembered for a while."""
        self._active.pop(context.id, None)
        self._ended[context.id] = None
        while len(self._ended) > ENDED_IDS_KEPT:
            self._ended.popitem(last=False)

    def get(self, name: str) -> Context | None:
        """The active context of that id."""
        return self._active.get(name)

    def head(self) -> Context | None:
        """The context whose turn it is."""
        return next(iter(self._active.values()), None)

    def current(self) -> Context | None:
        """The latest implicit context that still takes text."""
        takers = (c for c in reversed(self._active.values()) if c.implicit and not c.ended)
        return next(takers, None)

    def find(self, name: str | None, what: str) -> Context:
        """The context that a request of the kind ``what`` means.

        Raises:
            UnknownContext: never opened in this session, or none is meant by leaving it out.
            ContextGone: it has ended.
        """
        found = self.current() if name is None else self._active.get(name)
        if found is not None:
            return found
        if name is None:
            raise UnknownContext(f"{what} without ctx, and no context is open for it")
        if name in self._ended:
            raise ContextGone(f"context {name!r} has ended; open it again to say more")
        raise UnknownContext(f"no context {name!r} in this session; send open first")

    def implicit_id(self) -> str:
        """An id for a context that was given none."""
        while True:
            self._implicit_count += 1
            name = f"auto-{self._implicit_count}"
            if name not in self._active:
                return name

    def next_sid(self) -> int:
        """A number for audio headers that no active context has."""
        taken = {context.sid for context in self._active.values()}
        while True:
            self._last_sid = self._last_sid % SIDS + 1
            if self._last_sid not in taken:
                return self._last_sid

    def moved(self) -> list[Context]:
        """Contexts whose place has changed since this was last asked; their place is updated."""
        found = []
        for place, context in enumerate(self._active.values()):
            before, context.position = context.position, place
            if place != before and (place or before):
                found.append(context)
        return found
