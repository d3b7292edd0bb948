"""The profile that all Hypothesis tests run under."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


@given(example=st.none())
def test_b17_no_test_has_a_deadline(example: None) -> None:
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check
