from hypothesis import given
from hypothesis import strategies as st

from flipset.paper import Restriction


def as_string(rho: Restriction, x_star: str) -> str:
    """ρ as the paper writes it, a string over 0, 1 and *."""
    return "".join(
        str(1 - int(bit)) if rho.flipped >> i & 1 else bit if rho.kept >> i & 1 else "*" for i, bit in enumerate(x_star)
    )


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans())), st.text("01", min_size=5, max_size=5))
def test_completion_is_x_star_overwritten_by_rho(steps: list[tuple[int, bool]], x_star: str) -> None:
    rho = Restriction()
    written = ["*"] * 5
    for i, flipped in steps:
        rho = rho.flip(i) if flipped else rho.keep(i)
        written[i] = str(1 - int(x_star[i])) if flipped else x_star[i]
    assert as_string(rho, x_star) == "".join(written)
    assert rho.domain == sum(1 << i for i in range(5) if written[i] != "*")
    # (x*_ρ)_i is x*_i where ρ is free and ρ_i elsewhere; the completion says where that differs from x*.
    hybrid = [x_star[i] if written[i] == "*" else written[i] for i in range(5)]
    assert rho.completion == sum(1 << i for i in range(5) if hybrid[i] != x_star[i])
    top = [str(1 - int(x_star[i])) if written[i] == "*" else written[i] for i in range(5)]
    assert rho.top(5) == sum(1 << i for i in range(5) if top[i] != x_star[i])
