"""What must be so: one function for each, its docstring the sentence, raising Violation where it is not."""

from collections.abc import Callable, Sequence

from parking.consumer.conformance.cases import parked, refused, released, replayed
from parking.consumer.conformance.line import Line

Case = Callable[[Line], None]

CASES: Sequence[Case] = (*parked.CASES, *replayed.CASES, *released.CASES, *refused.CASES)
"""Those that need no crash, in the order in which they are run; each has keys of its own."""
