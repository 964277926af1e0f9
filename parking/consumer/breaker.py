"""A circuit breaker: stops calls that would fail. Pure; times are seconds of any clock."""

from dataclasses import dataclass


@dataclass(slots=True)
class Breaker:
    """Opens after so many failures in a row, for `open_for` seconds; then one call is tried, and decides."""

    failures: int = 5
    open_for: float = 30.0
    in_a_row: int = 0
    _until: float | None = None

    def __post_init__(self) -> None:
        if self.failures < 1 or self.open_for <= 0:
            raise ValueError(f"breaker: expected at least 1 failure and more than 0 s, arrived {self}")

    @property
    def is_open(self) -> bool:
        """Whether calls are stopped, but for one that is tried now and then."""
        return self._until is not None

    def wait(self, now: float, *, after: float = 0.0) -> float:
        """Seconds until a call may be made; 0 means that it is to be made now, and judged.

        One that lets others go first waits so many seconds longer (`after`) where the breaker is open.
        """
        if self._until is None:
            return 0.0
        if now < self._until + after:
            return self._until + after - now
        # The next one tries. Who tries and never says how it went (it lost its partition) blocks nobody for long.
        self._until = now + self.open_for
        return 0.0

    def succeeded(self) -> None:
        """A call worked."""
        self.in_a_row, self._until = 0, None

    def failed(self, now: float) -> bool:
        """A call failed; whether that was to be expected, because the breaker was open before."""
        expected = self.is_open
        self.in_a_row += 1
        if expected or self.in_a_row >= self.failures:
            self._until = now + self.open_for
        return expected
