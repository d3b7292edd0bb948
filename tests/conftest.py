"""What all tests share: Hypothesis never fails a test because the machine is busy."""

from hypothesis import HealthCheck, settings

# Everything else stays as Hypothesis sets it up, which differs on a build server.
settings.register_profile(
    "any machine",
    settings(),
    deadline=None,
    suppress_health_check=[*settings().suppress_health_check, HealthCheck.too_slow],
)
settings.load_profile("any machine")
