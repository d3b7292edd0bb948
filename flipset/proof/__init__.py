"""Proofs, a checker that shares no code with any search, and a reader of JSON files with limits on their size."""

from flipset.proof.proof import STEPS, Proof

__all__ = ["STEPS", "Proof"]
