from __future__ import annotations

import pytest

from nemo_gym.rollout_compare.schema import Mark, Mask, MaskKind


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        (Mask(MaskKind.MASK_SAMPLE), "mask_sample"),
        (Mask(MaskKind.MASK_SAMPLE, "timeout"), "mask_sample (failure_kind=timeout)"),
        (Mask(MaskKind.NO_REWARD), "no reward"),
        (Mask(MaskKind.NON_FINITE, "-inf"), "non-finite reward (-inf)"),
        (Mask(MaskKind.NO_RESULT), "no result: killed or still running"),
        (Mask(MaskKind.ERROR, "Boom"), "error: Boom"),
    ],
)
def test_each_reason_has_its_words(mask: Mask, text: str) -> None:
    assert str(mask) == text


def test_every_reason_has_words_with_and_without_a_detail() -> None:
    assert all(str(Mask(kind)) and "{" not in str(Mask(kind, "d")) for kind in MaskKind)


def test_a_mark_is_an_error_or_a_field_with_its_value() -> None:
    assert str(Mark("error", "gone")) == "error: gone"
    assert str(Mark("verifier_error", "exit 1")) == "verifier_error=exit 1"
