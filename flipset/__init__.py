"""All smallest sets of features whose change flips a monotone model's decision, with a proof.

>>> import flipset
>>> approve = lambda sets: [{"income", "debt"} <= {NAMES[i] for i in s} for s in sets]
>>> NAMES = ["income", "age", "debt"]
>>> found = flipset.find_flipsets(approve, d=3)
>>> [[NAMES[i] for i in sorted(s)] for s in found.flipsets], found.proof.check(3)
([['income', 'debt']], True)
"""

from flipset.counterfactuals import Counterfactuals, find_counterfactuals
from flipset.drivers import arun, replay, run
from flipset.errors import (
    BudgetExhausted,
    Fault,
    FlipsetError,
    InputError,
    NotDecided,
    NotLocal,
    NotMonotone,
    NotMonotoneWarning,
    OracleError,
    ProtocolError,
    StorageError,
    Unavailable,
    WorkerLost,
)
from flipset.explain.audit_result import Audit, Finding, Witness
from flipset.explain.by_threshold import ByThreshold
from flipset.explain.explanation import Explanation
from flipset.explain.explanations import Explanations
from flipset.explain.rechecks import Rechecks
from flipset.explain.stored import read_explanations
from flipset.explainer import Explainer
from flipset.flipsets import find_flipsets, iter_flipsets
from flipset.journal import Journal
from flipset.models import load_model
from flipset.proof import Proof
from flipset.protocol import Flips, Search, ask, gather, relay
from flipset.results.estimates import TableEstimate
from flipset.results.rechecks import Recheck, RecheckedCounterfactual, RecheckSummary
from flipset.results.summary import Summary
from flipset.results.verification import Verification
from flipset.search.result import Flipsets
from flipset.space import Decision, Feature, Group, Space
from flipset.space.suggestions import Suggestion, suggest_constraints
from flipset.values import range_share, share_passed
from flipset.values.change import Change, Counterfactual, CurvePoint, Frontier
from flipset.version import __version__ as __version__

__all__ = [
    "Audit",
    "BudgetExhausted",
    "ByThreshold",
    "Change",
    "Counterfactual",
    "Counterfactuals",
    "CurvePoint",
    "Decision",
    "Explainer",
    "Explanation",
    "Explanations",
    "Fault",
    "Feature",
    "Finding",
    "Flips",
    "FlipsetError",
    "Flipsets",
    "Frontier",
    "Group",
    "InputError",
    "Journal",
    "NotDecided",
    "NotLocal",
    "NotMonotone",
    "NotMonotoneWarning",
    "OracleError",
    "Proof",
    "ProtocolError",
    "Recheck",
    "RecheckSummary",
    "RecheckedCounterfactual",
    "Rechecks",
    "Search",
    "Space",
    "StorageError",
    "Suggestion",
    "Summary",
    "TableEstimate",
    "Unavailable",
    "Verification",
    "Witness",
    "WorkerLost",
    "arun",
    "ask",
    "find_counterfactuals",
    "find_flipsets",
    "gather",
    "iter_flipsets",
    "load_model",
    "range_share",
    "read_explanations",
    "relay",
    "replay",
    "run",
    "share_passed",
    "suggest_constraints",
]
