"""Helper library of the course: small rooms for retries, queues and processes, and the classroom."""

__version__ = "0.1.0"
__all__ = ["__version__"]
