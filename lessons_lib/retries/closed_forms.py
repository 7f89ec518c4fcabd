"""What retries of a service that fails at random come to, without any simulation."""

from lessons_lib.errors import real_number, whole_number

__all__ = ["load_of", "success_of"]


def success_of(failure_rate: float, attempts: int = 4) -> float:
    """Return the share of calls that succeed within `attempts`: 1 - xᵃ.

    Args:
        failure_rate: x, the probability that an attempt fails, 0 to 1, each on its own.
        attempts: a, most attempts of a call, the first included.
    """
    x = real_number("failure_rate", failure_rate, low=0, high=1)
    return 1 - x ** whole_number("attempts", attempts, low=1)


def load_of(failure_rate: float, attempts: int = 4) -> float:
    """Return the requests per call: 1 + x + x² + … + xᵃ⁻¹, that is (1 - xᵃ)/(1 - x), a at x = 1.

    The n-th attempt is made if all before it failed, which has probability xⁿ⁻¹.

    Args:
        failure_rate: x, the probability that an attempt fails, 0 to 1, each on its own.
        attempts: a, most attempts of a call, the first included.
    """
    x = real_number("failure_rate", failure_rate, low=0, high=1)
    return float(sum(x**made for made in range(whole_number("attempts", attempts, low=1))))
