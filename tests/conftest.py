"""What all tests share: no test fails because the machine is busy, and none makes it busier than it must."""

import os

# Threads of OpenMP wait in busy loops for each other. Where other processes hold the cores, as other workers of the
# suite do, a small model can take a hundred times as long to fit. This comes before anything imports NumPy, and child
# processes inherit it.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from hypothesis import HealthCheck, settings

# Everything else stays as Hypothesis sets it up, which differs on a build server.
settings.register_profile(
    "any machine",
    settings(),
    deadline=None,
    suppress_health_check=[*settings().suppress_health_check, HealthCheck.too_slow],
)
settings.load_profile("any machine")
