"""Every module has a test file of its own, or a reason; and no reason outlives its module."""

from tests.untested import ELSEWHERE, ROOT, file_of, main, modules, untested


def test_every_module_has_a_test_file_or_a_reason() -> None:
    assert [module for module in untested() if module not in ELSEWHERE] == []
    assert main() == 0


def test_every_reason_is_needed_and_leads_to_a_file() -> None:
    for module, (where, why) in ELSEWHERE.items():
        assert module in modules(), f"there is no module {module}"
        assert not file_of(module).is_file(), f"{module} has a test file: it needs no reason"
        assert (ROOT / "tests" / f"{where}.py").is_file(), f"there is no {where}"
        assert why


def test_the_list_sees_what_is_missing() -> None:
    assert "protocol" in modules()
    assert "protocol" not in untested()
    assert "serve/about" in untested()
    assert len(modules()) > 120
