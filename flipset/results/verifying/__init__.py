"""Verifying an explanation: `flow` lists the checks and their order, and `driver` runs them against a model."""

from flipset.results.verifying.driver import verify_by
from flipset.results.verifying.findings import FIELDS, TOLERANCE, Terms, same

__all__ = ["FIELDS", "TOLERANCE", "Terms", "same", "verify_by"]
