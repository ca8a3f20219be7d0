"""Settings for properties."""

from hypothesis import HealthCheck, settings

#: No test fails for the speed of the machine.
PROPERTY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
