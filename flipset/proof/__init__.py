"""Proofs, their checker, which shares no code with any search, and the reading of files within limits."""

from flipset.proof.proof import STEPS, Proof

__all__ = ["STEPS", "Proof"]
