"""Settings for all tests."""

from hypothesis import settings

# Speed is not a law: a slow machine must not fail one. The same examples every time, so that a
# red run can be repeated.
settings.register_profile("course", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("course")
