"""What looks like a secret, by its name or by its own shape. Nothing here is ever printed but `***`."""

from __future__ import annotations

import re
from collections.abc import Iterator

MASK = "***"

_NAME = re.compile(
    r"(?:^|[_\-])(?P<kind>(?:api|access|secret|private|auth)[_-]?key|token|secret|password|passwd|passphrase|credentials?"
    r"|authorization)$",
    re.IGNORECASE,
)
"""The end of a name: WANDB_API_KEY, HF_TOKEN, trainer.db_password. Not VLLM_MAX_TOKENS, prompt_key, HF_TOKEN_PATH."""

_RANDOM = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9+=]{16,}")
"""A key as services make them; no path, no list, no words joined by _ or -."""

_LESS_CERTAIN = (
    (re.compile(r"[_\-]key$", re.IGNORECASE), _RANDOM),
    (re.compile(r"_(?:PASS|PWD)$"), re.compile(r"(?=.*[A-Za-z])(?=.*[^A-Za-z_,.\-])[^/\\]{6,}")),
)
"""(end of a name, whole value): SWANLAB_KEY, DB_PASS. Not data.prompt_key=prompt, forward_pass=2, PWD=/home/me."""

_TOKENIZER_WORDS = frozenset(
    {"additional", "audio", "begin", "bos", "cls", "delimiter", "dummy", "end", "eos", "fim", "first", "image"}
    | {"last", "mask", "max", "mean", "min", "next", "num", "pad", "per", "placeholder", "prefix", "prompt"}
    | {"response", "sep", "separator", "special", "split", "start", "stop", "suffix", "think", "tool", "unk", "video"}
    | {"vision"}
)
"""`eos_token`, `image_token`, `loss_per_token`: a token of the model, not of a service."""

_SHAPE = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    r"hf_[A-Za-z0-9]{20,}"  # Hugging Face
    r"|sk-[A-Za-z0-9_-]{20,}"  # OpenAI and those who copied its form
    r"|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{20,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}|LTAI[A-Za-z0-9]{12,20}"  # AWS, Alibaba Cloud
    r"|xox[abprs]-[A-Za-z0-9-]{10,}"  # Slack
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"  # JSON web token
    r")(?![A-Za-z0-9_-])"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|(?<![A-Za-z0-9_])(?i:bearer)\s+[A-Za-z0-9._~+/\-]{16,}"  # an HTTP header, whatever it is called
    r"|(?<=://)[^/\s:@'\"]*:(?!\$)[^/\s@'\"]+(?=@)"  # user:password of a URL
    r"|(?:(?<=http://)|(?<=https://))(?=[^/@\s]*[0-9])[A-Za-z0-9_.~%\-]{12,200}(?=@)"  # a token in their place
    r"|(?<![^\s\"'=,])[A-Za-z0-9_.\-]{1,200}:(?!\$)[^/\s@'\"]{1,200}(?=@[A-Za-z0-9.\-]{1,200}:[0-9]{1,5}(?!\w))"
    # user:password@host:port
)

_PAIR = re.compile(
    r"""(?<![A-Za-z0-9_.\-])(?P<name>[A-Za-z0-9_.\-]+)["']?\s*[:=][\s\[]*(?P<value>"[^"]*"|'[^']*'|[^,"'{}\[\]\s]+)""",
)
"""`NAME: value` or `NAME=value` inside a dict, a list or a command line."""

_ASSIGNED = re.compile(
    r"""(?<![A-Za-z0-9_.\-])(?P<name>[A-Za-z0-9_.\-]+)=(?P<value>"[^"]*"|'[^']*'|[^,"'{}\[\]\s；，。：？、）]+)"""
)
"""`NAME=value` within a sentence."""

_NO_VALUE = frozenset({"", "null", "none", "true", "false", MASK})
_SHORT_NUMBER_DIGITS = 9
"""`HF_HUB_DISABLE_IMPLICIT_TOKEN=1` is a switch, `eos_token=151645` an id; no service's token is a short number."""


def holds_secret(name: str, text: str) -> bool:
    """Whether `text`, as the value of `name`, looks like a secret or has one in it."""
    if _SHAPE.search(text) or is_secret(name, text):
        return True
    return any(is_secret(inner, value) for inner, value in _pairs(text))


def is_secret(name: str, text: str) -> bool:
    """Whether `text` is one, going by the name that it is given to."""
    value = text.strip().strip("'\"").strip()
    if any(end.search(name) and shape.fullmatch(value) for end, shape in _LESS_CERTAIN):
        return not value.startswith("$")
    kind = _kind(name)
    if kind is None or value.lower() in _NO_VALUE or value.startswith("$"):  # $: a reference, as ${oc.env:NAME} is
        return False
    return kind != "token" or not _tokenizers(name, value)


def shown(name: str, text: str) -> str:
    """`text` if it may be shown as the value of `name`, else `***`."""
    return MASK if holds_secret(name, text) else text


def redacted(text: str) -> str:
    """`text`, a sentence or a name, with all in it masked that has the shape of a secret or is given to its name."""
    return _ASSIGNED.sub(_assigned, without_shapes(text))


def without_shapes(text: str) -> str:
    """`text` with all in it masked that has the shape of a secret, whatever it is called."""
    return _SHAPE.sub(MASK, text)


def is_random(text: str) -> bool:
    """Letters and digits as services make their keys of."""
    return _RANDOM.fullmatch(text) is not None


def is_key_shaped(text: str) -> bool:
    """Whether `text`, where a variable's name belongs, is a key itself. Such names are mostly in capitals."""
    return bool(_SHAPE.search(text) or (_RANDOM.fullmatch(text) and not text.isupper()))


def _assigned(pair: re.Match[str]) -> str:
    value = pair["value"].rstrip(";")  # the sentence's, not the value's
    secret = is_secret(pair["name"], value) or _RANDOM.fullmatch(value)
    return f"{pair['name']}={MASK}{pair['value'][len(value) :]}" if secret else pair[0]


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for pair in _PAIR.finditer(text):
        yield pair["name"], pair["value"]


def _kind(name: str) -> str | None:
    found = _NAME.search(name.rsplit(".", 1)[-1])
    return found["kind"].lower() if found else None


def _tokenizers(name: str, value: str) -> bool:
    if value[0] in "<[" or (value.isdigit() and len(value) <= _SHORT_NUMBER_DIGITS):
        return True
    words = re.split(r"[_.\-]", name.lower())
    return len(words) > 1 and words[-2] in _TOKENIZER_WORDS
