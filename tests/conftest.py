"""Hypothesis profiles: `fast` by default, `thorough` with HYPOTHESIS_PROFILE=thorough."""

import os

from hypothesis import settings

settings.register_profile("fast", max_examples=40, deadline=None)
settings.register_profile("thorough", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))
