"""Whether an explanation is what it claims to be: `flow` says what is checked, in which order; `driver` runs it."""

from flipset.results.verifying.driver import verify_by
from flipset.results.verifying.findings import FIELDS, TOLERANCE, Terms, same

__all__ = ["FIELDS", "TOLERANCE", "Terms", "same", "verify_by"]
