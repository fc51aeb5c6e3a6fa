"""The model's folder, where it can be read here: what verl and transformers need of it before weights are loaded."""

from __future__ import annotations

from collections.abc import Callable

from submitter.checks.algorithm import PLACEHOLDER, own_config
from submitter.checks.case import Case, NotChecked
from submitter.checks.finding import Finding, Severity
from submitter.checks.model_contents import MODEL, ModelContents
from submitter.checks.native_models import NATIVE_TYPES
from submitter.checks.rule import Rule
from submitter.checks.settings import PPO_MODULES, Settings
from submitter.texts import Phrase

NAMED = 4
"""Files in one message."""

_REMOTE_CODE = "actor_rollout_ref.model.trust_remote_code"
_TEMPLATE = "actor_rollout_ref.model.custom_chat_template"
_TOKENIZER = "actor_rollout_ref.model.tokenizer_path"
_TOKENIZER_FILES = {
    "tokenizer.json",
    "tokenizer.model",
    "vocab.json",
    "vocab.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
} | {"tekken.json", "tokenizer.model.v3", "tokenization.py"}
_TOKENIZER_ENDS = (".tiktoken", "tiktoken.model", ".py")
"""Tokenizers that come with their own code keep their words in files of any name."""
_TEMPLATE_FILES = ("chat_template.jinja", "chat_template.json", "additional_chat_templates", "tekken.json")
_TEMPLATE_BY_CODE = ("deepseek_v32", "deepseek_v4", "deepseek_vl_v2")
"""`model_type` of models whose chat format is code beside the model, not a template."""


def model_config(case: Case) -> list[Finding | NotChecked]:
    """Source: verl/workers/config/model.py, HFModelConfig: AutoConfig.from_pretrained reads config.json."""
    found = case.contents
    if found is None:
        return []
    if found.state == "elsewhere":
        return [NotChecked("NR353", "NR353.unknown", {"path": found.path})]
    if found.state == "no_folder":
        return [_finding(case, "NR353", "error", why=Phrase("NR353.no_folder"))]
    if found.state == "unreadable":
        return [_finding(case, "NR353", "warning", why=found.why)]
    if (
        found.state == "read"
        and found.config is None
        and not case.settings.text("actor_rollout_ref.model.hf_config_path")
    ):
        absent = found.config_why is not None and found.config_why.absent
        return [_finding(case, "NR353", "error", why=Phrase("NR353.absent" if absent else "NR353.broken"))]
    return []


def model_lost(case: Case) -> list[Finding]:
    """Source: transformers takes a path that does not exist for a name on the Hugging Face hub."""
    found = case.contents
    if found is None or found.state != "lost":
        return []
    return [_finding(case, "NR354", "warning")]


def model_weights(case: Case) -> list[Finding]:
    """Source: transformers, safetensors and mbridge open every file that the index names; 0 bytes are no header."""
    found = _read(case)
    if found is None or _loads_no_weights(case.settings):
        return []
    bad = _bad_weights(found)
    return [] if not bad else [_finding(case, "NR355", "error", limit=found.index, bad=bad)]


def model_tokenizer(case: Case) -> list[Finding]:
    """Source: verl/utils/tokenizer.py, hf_tokenizer: AutoTokenizer.from_pretrained on the same folder."""
    found = _read(case)
    if found is None or case.settings.text(_TOKENIZER) or found.config is None:
        return []
    if any(name in _TOKENIZER_FILES or name.endswith(_TOKENIZER_ENDS) for name in found.sizes):
        return []
    return [_finding(case, "NR356", "error", limit="tokenizer.json, tokenizer.model, vocab.json …")]


def chat_template(case: Case) -> list[Finding]:
    """Source: the agent loops call tokenizer.apply_chat_template, which raises without one (transformers ≥ 4.44)."""
    found = _read(case)
    if found is None or found.config is None or any(case.settings.text(key) for key in (_TEMPLATE, _TOKENIZER)):
        return []
    inside = found.tokenizer.get("chat_template")
    if inside or any(name in found.sizes for name in _TEMPLATE_FILES) or model_tokenizer(case):
        return []
    if found.config.get("model_type") in _TEMPLATE_BY_CODE:
        return []
    unsure = found.tokenizer.get("auto_map") or "processor_config.json" in found.sizes  # either may bring one
    severity: Severity = "warning" if unsure else "error"
    return [_finding(case, "NR357", severity, limit="tokenizer_config.json, chat_template.jinja")]


def remote_code(case: Case) -> list[Finding]:
    """Source: transformers, resolve_trust_remote_code: a class that only the model brings needs leave to run."""
    if case.settings.truth(_REMOTE_CODE) is not False:
        return []
    found, shape = _read(case), case.model
    config = found.config if found else None
    kind = config.get("model_type") if config else shape.model_type if shape else None
    brings = bool(config.get("auto_map")) if config else bool(shape and shape.needs_remote_code)
    if not brings or not isinstance(kind, str):
        return []
    severity: Severity = "warning" if kind in NATIVE_TYPES else "error"
    place = case.settings.place(_REMOTE_CODE, MODEL)
    return [Finding("NR358", severity, place, "False", kind, {"path": case.settings.text(MODEL)})]


def model_none(case: Case) -> list[Finding]:
    """Source: trainer/config/model/hf_model.yaml (0.7.1 to 0.9.1); copy_to_local of what is no path fails."""
    settings = case.settings
    if case.job.trainer.module not in PPO_MODULES or own_config(case):
        return []
    path = settings.text(MODEL)
    if (path and path != PLACEHOLDER) or (path is None and not settings.lacks(MODEL)):
        return []
    shown = path or ("null" if path is None else "''")
    what = Phrase("NR340.default" if path else "NR340.empty", {"path": shown})
    return [Finding("NR340", "error", settings.place(MODEL), shown, None, {"what": what})]


def model_relative(case: Case) -> list[Finding]:
    """Source: every worker opens it below its own folder, which Ray makes; ./x is no name on the hub either."""
    name = case.settings.text(MODEL)
    if name is None or not case.settings.is_set(MODEL) or not _relative(name):
        return []
    return [_finding(case, "NR359", "warning")]


RULES = (
    Rule("NR340", ("error",), model_none, ppo=True),
    Rule("NR353", ("error", "warning"), model_config, ppo=True),
    Rule("NR354", ("warning",), model_lost, ppo=True),
    Rule("NR355", ("error",), model_weights, ppo=True),
    Rule("NR356", ("error",), model_tokenizer, ppo=True),
    Rule("NR357", ("error", "warning"), chat_template, ppo=True),
    Rule("NR358", ("error", "warning"), remote_code, ppo=True),
    Rule("NR359", ("warning",), model_relative, ppo=True),
)


def _finding(case: Case, rule: str, severity: Severity, limit: str | None = None, **values: object) -> Finding:
    return Finding(rule, severity, case.settings.place(MODEL), case.settings.text(MODEL), limit, values)


def _read(case: Case) -> ModelContents | None:
    return case.contents if case.contents and case.contents.state == "read" else None


def _relative(name: str) -> bool:
    """A hub's name has one slash at most."""
    return name.startswith(("./", "../")) or (
        name.count("/") > 1 and not name.startswith(("/", "~")) and "://" not in name
    )


def _loads_no_weights(settings: Settings) -> bool:
    """Megatron may load its own distributed checkpoint in their place."""
    return settings.truth("actor_rollout_ref.actor.megatron.use_dist_checkpointing") is True


_LOOKS: tuple[tuple[str, Callable[[ModelContents], list[str]]], ...] = (
    ("NR355.index", lambda found: [str(found.index)] if found.index_why else []),
    ("NR355.missing", lambda found: [one for one in found.shards if found.sizes.get(one, -1) < 0]),
    ("NR355.empty", lambda found: [one for one in found.shards or found.weights if found.sizes.get(one) == 0]),
    ("NR355.pointer", lambda found: [one for one in found.pointers if one in (found.shards or found.weights)]),
    ("NR355.none", lambda found: [] if found.weights or found.shards or found.index_why else ["*.safetensors"]),
)
"""What can be wrong with a model's weights; the first that is counts."""


def _bad_weights(found: ModelContents) -> Phrase | None:
    for why, look in _LOOKS:
        names = [name for name in look(found) if "/" not in name]
        if names:
            more = f" … ({len(names)})" if len(names) > NAMED else ""
            return Phrase(why, {"files": ", ".join(names[:NAMED]) + more, "count": len(found.shards)})
    return None
