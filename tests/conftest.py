"""What all tests share: no test fails because the machine is busy, and none makes it busier than it must."""

import os
import signal

# A shell starts commands in the background with interrupts ignored, and child processes inherit it. Tests that raise
# interrupts would wait forever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

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
