"""What all tests share: how hypothesis looks for examples."""

import os

from hypothesis import settings

# How long an example takes says nothing about what is tested, least of all on a machine that does other things too.
settings.register_profile("sbc", deadline=None, print_blob=True)
# The gate is reproducible; elsewhere every run looks at other examples.
settings.register_profile("sbc-ci", settings.get_profile("sbc"), derandomize=True, database=None)
settings.load_profile("sbc-ci" if os.environ.get("CI") == "true" else "sbc")
