"""How long tests wait for something that is sure to happen."""

PATIENCE = 600.0
"""Seconds after which a test that hangs is given up. Nothing takes as long, on a busy machine either."""
