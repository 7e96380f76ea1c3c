"""How often something may be done: token buckets, one a key, a bounded number of them.

Knows: costs and time. Does not know: what is being limited.
"""

from __future__ import annotations

import ipaddress
import math
from collections import OrderedDict
from dataclasses import dataclass

from streaming.clock import Clock
from streaming.errors import RateLimited

_KEYS_MAX = 10_000

_ROUNDING = 1e-9
"""A bucket that lacks no more than this for a cost can pay it: it is filled by fractions."""


@dataclass
class _Bucket:
    left: float
    at_s: float


class RateLimiter:
    """``burst`` at once and ``rate_per_s`` in the long run, for each key by itself.

    The key used longest ago is forgotten when there are more than ``keys_max``: it then starts
    anew with a full burst.
    """

    def __init__(
        self, rate_per_s: float, burst: float, clock: Clock, keys_max: int = _KEYS_MAX
    ) -> None:
        self._rate_per_s = rate_per_s
        self._burst = burst
        self._clock = clock
        self._keys_max = keys_max
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    @classmethod
    def per_minute(cls, times: int, clock: Clock, keys_max: int = _KEYS_MAX) -> RateLimiter:
        """So many in any minute that follows a quiet one."""
        return cls(times / 60, times, clock, keys_max)

    @classmethod
    def per_second(cls, times: int, clock: Clock, keys_max: int = _KEYS_MAX) -> RateLimiter:
        """So many in any second that follows a quiet one."""
        return cls(times, times, clock, keys_max)

    def take(self, key: str, cost: float = 1.0) -> float:
        """0.0 and the cost is paid, or the seconds to wait before asking again; nothing is paid.

        A cost above the burst is paid from a full bucket, which then stays in debt.
        """
        bucket = self._bucket(key)
        missing = min(cost, self._burst) - bucket.left
        if missing > _ROUNDING:
            return missing / self._rate_per_s
        bucket.left -= cost
        return 0.0

    def require(self, key: str, what: str, cost: float = 1.0) -> None:
        """Pay, or raise RateLimited, saying there were too many ``what`` and when to retry."""
        wait_s = self.take(key, cost)
        if wait_s > 0:
            wait_ms = max(1, math.ceil(wait_s * 1000))
            raise RateLimited(f"Too many {what}: wait {wait_ms} ms.", retry_after_ms=wait_ms)

    def forget(self, key: str) -> None:
        """Forget the key, whose owner is gone."""
        self._buckets.pop(key, None)

    def __len__(self) -> int:
        return len(self._buckets)

    def _bucket(self, key: str) -> _Bucket:
        now_s = self._clock.now()
        bucket = self._buckets.setdefault(key, _Bucket(self._burst, now_s))
        self._buckets.move_to_end(key)
        if len(self._buckets) > self._keys_max:
            self._buckets.popitem(last=False)
        gained = (now_s - bucket.at_s) * self._rate_per_s
        bucket.left = min(self._burst, bucket.left + gained)
        bucket.at_s = now_s
        return bucket


def address_key(host: str) -> str:
    """The key of a client's address: an IPv6 client owns its whole /64, so that counts as one."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, 64), strict=False))
