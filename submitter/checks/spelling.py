"""The flag that a mistyped name was meant to be. A real name, and a name of the user's own, is nobody's mistake."""

from __future__ import annotations

import re
from functools import cache

from runtime_env.flags import flag, flags, names

_FAMILY = re.compile(r"(?:VLLM|HCCL|ASCEND|PYTORCH_NPU|TORCH_HCCL|TORCH_NPU|VERL|RAY)_")
ALIKE_IN_FAMILY = 0.85
"""Of difflib's ratio: one or two letters of a name of 20."""
ALIKE = 0.92
"""Where the name belongs to no family: it may as well be the user's own."""
SHORTEST = 8
"""Characters: shorter names are alike by chance."""
LONGEST = 100
_VLLM = "VLLM_"


@cache
def meant(name: str) -> str | None:
    """The most alike known name; None when `name` is known itself, or is like none."""
    if not SHORTEST <= len(name) <= LONGEST or flag(name) is not None:
        return None
    family = _FAMILY.match(name.upper()) is not None
    known = names() if family else flags()
    candidates = [other for other in known if _could_be(other)]
    return _nearest(name, candidates, ALIKE_IN_FAMILY if family else ALIKE)


def unknown_to_vllm(name: str) -> bool:
    """No version that was looked at reads it, and it resembles nothing that one reads."""
    return name.startswith(_VLLM) and flag(name) is None and meant(name) is None


def _could_be(name: str) -> bool:
    known = flags().get(name)
    return known is None or known.at != "script"


def _nearest(name: str, candidates: list[str], alike: float) -> str | None:
    from difflib import SequenceMatcher  # only when a name is unknown

    matcher = SequenceMatcher(b=name.upper())
    best: tuple[float, str] = (alike, "")
    for other in candidates:
        matcher.set_seq1(other.upper())
        if matcher.real_quick_ratio() >= best[0] and matcher.quick_ratio() >= best[0]:
            best = max(best, (matcher.ratio(), other))
    return best[1] or None
