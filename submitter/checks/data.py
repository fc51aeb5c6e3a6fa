"""The training and validation files, where they can be read here: what verl's dataset and rewards need of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from runtime_env.verl_defaults import version_key
from submitter.checks.algorithm import own_config, trains
from submitter.checks.batch_facts import refills_one_by_one
from submitter.checks.case import Case, NotChecked
from submitter.checks.data_files import FORMATS, TRAIN, VAL, DataFile, is_remote
from submitter.checks.finding import Finding, Severity
from submitter.checks.rule import Rule
from submitter.checks.settings import Settings
from submitter.texts import Phrase

V1_SINCE = (0, 9, 0)
"""The release whose trainer is `trainer.use_v1`; its asynchronous modes fetch prompts one by one."""
NAMED = 3
"""Paths in one message."""

_RAW_GSM8K = {"question", "answer"}
_MANAGERS = ("naive", "dapo", "gdpo", "rate_limited", "remote", "batch", "prime")
"""verl's own reward managers, and two older ones; others are registered by code of the user's."""
_MANAGER_KEYS = ("reward.reward_manager.name", "reward_model.reward_manager")
_AGENT_LOOPS = ("single_turn_agent", "tool_agent")
"""verl's own, which leave the score to the reward loop."""
_IMAGE_COLUMNS = ("images", "image")


def data_format(case: Case) -> list[Finding]:
    """Source: verl/utils/dataset/rl_dataset.py, _read_files_and_tokenize: any other ending is a ValueError."""
    return [_finding(case, "NR341", "error", one, limit=", ".join(FORMATS)) for one in _default(case, "format")]


def data_unreadable(case: Case) -> list[Finding | NotChecked]:
    """Source: datasets.load_dataset("parquet" | "json", …) in verl/utils/dataset/rl_dataset.py."""
    said: list[Finding | NotChecked] = []
    for one in case.data:
        if one.state == "corrupt":
            said.append(_finding(case, "NR342", "error", one, why=one.why))
        elif one.state == "no_file":
            said.append(_finding(case, "NR342", "error", one, why=Phrase("NR342.no_file")))
        elif one.state == "unreadable":
            said.append(_finding(case, "NR342", "warning", one, why=one.why))
    return [*said, *_not_read(case)]


def data_lost(case: Case) -> list[Finding]:
    """Source: verl/utils/fs.py, copy_to_local: a path that does not exist fails on the node that loads it."""
    return [_finding(case, "NR343", "warning", one) for one in _in(case, "lost") if not _relative(one)]


def data_empty(case: Case) -> list[Finding]:
    """Source: verl/trainer/ppo/ray_trainer.py, _create_dataloader: asserts a train and a validation batch."""
    said = []
    for key in (TRAIN, VAL):
        files = [one for one in case.data if one.key == key]
        empty = [one for one in files if one.rows == 0 and one.state == "read"]
        severity: Severity = "error" if len(empty) == len(files) else "warning"
        said += [_finding(case, "NR344", severity, one) for one in empty]
    return said


def data_short(case: Case) -> list[Finding]:
    """Source: the train loader drops an incomplete batch (ray_trainer.py, v1/trainer_base.py: drop_last=True)."""
    settings = case.settings
    rows, batch = _train_rows(case), _batch(settings)
    if rows is None or batch is None or not 0 < rows < batch[1]:
        return []
    place = settings.place(batch[0], TRAIN)
    values: dict[str, object] = {"files": sum(one.key == TRAIN for one in case.data), "batch": batch[1]}
    return [Finding("NR345", "error", place, str(rows), str(batch[1]), values)]


def prompt_missing(case: Case) -> list[Finding]:
    """Source: rl_dataset.py reads row[prompt_key]; with filter_overlong_prompts every row is dropped instead."""
    key = case.settings.text("data.prompt_key")
    if key is None:
        return []
    return [
        _finding(case, "NR346", "error", one, limit=_names(one), prompt_key=key, raw=_raw(one))
        for one in _used(case)
        if key not in one.columns and one.columns
    ]


def prompt_not_chat(case: Case) -> list[Finding]:
    """Source: rl_dataset.py, _build_messages, and the agent loops: a list of {role, content} for the chat template."""
    key = case.settings.text("data.prompt_key") or ""
    return [
        _finding(case, "NR347", "error", one, limit=one.columns[key].type, prompt_key=key)
        for one in _used(case)
        if key in one.columns and one.columns[key].kind in ("text", "struct")
    ]


def reward_columns(case: Case) -> list[Finding]:
    """Source: verl/experimental/reward_loop/reward_manager/*.py: data_source and reward_model["ground_truth"]."""
    if not rewards_read_columns(case.settings):
        return []
    severity: Severity = "error" if own_agent_loop(case.settings) is None else "warning"
    return [
        _finding(case, "NR348", severity, one, limit=_names(one), missing=", ".join(missing), raw=_raw(one))
        for one in scored_files(case)
        if one.columns and (missing := list(_missing(one)))
    ]


def data_relative(case: Case) -> list[Finding]:
    """Source: the trainer opens it below Ray's folder for the job, which holds the working_dir alone."""
    said, folder = [], case.job.runtime_env.working_dir
    where = Phrase("NR349.folder", {"folder": folder}) if folder else Phrase("NR349.none")
    for one in case.data:
        if not _relative(one) or one.state not in ("lost", "absent"):
            continue
        severity: Severity = "error" if case.working_dir else "warning"
        said.append(_finding(case, "NR349", severity, one, limit=folder, where=where))
    return said


def reward_key_ignored(case: Case) -> list[Finding]:
    """Source: the reward loop's managers read the column data_source by that name since 0.7.1."""
    key = "data.reward_fn_key"
    value = case.settings.text(key)
    if not case.settings.is_set(key) or value in (None, "data_source") or not rewards_read_columns(case.settings):
        return []
    return [Finding("NR350", "warning", case.settings.place(key), value, "data_source")]


def image_column(case: Case) -> list[Finding]:
    """Source: rl_dataset.py, _build_messages: row.get(image_key); <image> stays text without it."""
    key = case.settings.text("data.image_key")
    said = []
    for one in _in(case, "read"):
        others = [name for name in _IMAGE_COLUMNS if name in one.columns]
        wanted = case.settings.is_set("data.image_key") and one.key == TRAIN
        if key and one.columns and key not in one.columns and (others or wanted):
            said.append(_finding(case, "NR351", "warning", one, limit=_names(one), image_key=key))
    return said


def agent_column(case: Case) -> list[Finding]:
    """Source: agent_loop.py: without a column agent_name every prompt takes rollout.agent.default_agent_loop."""
    settings = case.settings
    loop = "actor_rollout_ref.rollout.agent.default_agent_loop"
    tools = "actor_rollout_ref.rollout.multi_turn.enable"
    if settings.truth(tools) is not True or settings.text(loop) != "single_turn_agent":
        return []
    return [
        Finding("NR352", "warning", settings.place(tools, loop), one.path, "single_turn_agent")
        for one in _used(case)
        if one.key == TRAIN and one.columns and "agent_name" not in one.columns
    ]


def data_none(case: Case) -> Iterator[Finding]:
    """Source: rl_dataset.py: None has no path, concatenate_datasets([]) is a ValueError; both sets are always made."""
    settings = case.settings
    if not trains(case) or settings.value("data.custom_cls.path") is not None:
        return
    for key in (TRAIN, VAL):
        value = settings.value(key)
        if settings.lacks(key) or value in ([], "", [""]):
            shown = "null" if value is None else str(value) or "''"
            yield Finding(
                "NR360",
                "error",
                settings.place(key),
                shown,
                None,
                {"what": Phrase("NR360.nothing", {"key": key, "value": shown})},
            )
        elif not settings.is_set(key) and isinstance(value, str) and not own_config(case):
            what = Phrase("NR360.default", {"key": key, "path": value})
            yield Finding("NR360", "warning", settings.place(key), value, None, {"what": what})


RULES = (
    Rule("NR341", ("error",), data_format, ppo=True),
    Rule("NR342", ("error", "warning"), data_unreadable, ppo=True),
    Rule("NR343", ("warning",), data_lost, ppo=True),
    Rule("NR344", ("error", "warning"), data_empty, ppo=True),
    Rule("NR345", ("error",), data_short, ppo=True),
    Rule("NR346", ("error",), prompt_missing, ppo=True),
    Rule("NR347", ("error",), prompt_not_chat, ppo=True),
    Rule("NR348", ("error", "warning"), reward_columns, ppo=True),
    Rule("NR349", ("error", "warning"), data_relative, ppo=True),
    Rule("NR350", ("warning",), reward_key_ignored, ppo=True),
    Rule("NR351", ("warning",), image_column, ppo=True),
    Rule("NR352", ("warning",), agent_column, ppo=True),
    Rule("NR360", ("error", "warning"), data_none, ppo=True),
)


def _not_read(case: Case) -> Iterator[NotChecked]:
    """One line per cause."""
    elsewhere = [one for one in case.data if one.state in ("remote", "absent") and not _relative(one)]
    for why, files in (("NR342.unknown", elsewhere), ("NR342.no_reader", _in(case, "no_reader"))):
        if files:
            more = f" (+{len(files) - NAMED})" if len(files) > NAMED else ""
            yield NotChecked("NR342", why, {"paths": ", ".join(one.path for one in files[:NAMED]) + more})


def _finding(
    case: Case, rule: str, severity: Severity, one: DataFile, limit: str | None = None, **values: object
) -> Finding:
    return Finding(rule, severity, case.settings.place(one.key), one.path, limit, values)


def _in(case: Case, state: str) -> list[DataFile]:
    return [one for one in case.data if one.state == state]


def _default(case: Case, state: str) -> list[DataFile]:
    """Files that verl's own dataset reads."""
    return [] if case.settings.value("data.custom_cls.path") is not None else _in(case, state)


def _used(case: Case) -> list[DataFile]:
    """Files whose rows become prompts; validation files only where something looks at their rows."""
    read = _default(case, "read")
    looks = _validates(case.settings) or case.settings.truth("data.filter_overlong_prompts") is True
    return [one for one in read if one.key == TRAIN or looks]


def scored_files(case: Case) -> list[DataFile]:
    """Files whose answers get a reward."""
    return [one for one in _default(case, "read") if one.key == TRAIN or _validates(case.settings)]


def _validates(settings: Settings) -> bool:
    every = settings.integer("trainer.test_freq")
    first = (settings.truth(f"trainer.{key}") for key in ("val_before_train", "val_only"))
    return any(first) or (every is not None and every > 0)


def _relative(one: DataFile) -> bool:
    return not is_remote(one.path) and not one.path.startswith(("/", "~"))


def _names(one: DataFile) -> str:
    return ", ".join(sorted(one.columns))


def _raw(one: DataFile) -> Phrase | str:
    """GSM8K as it is published is the most frequent of them."""
    return Phrase("NR346.raw") if set(one.columns) >= _RAW_GSM8K else ""


def _missing(one: DataFile) -> Iterable[str]:
    if "data_source" not in one.columns:
        yield "data_source"
    found = one.columns.get("reward_model")
    if found is None:
        yield "reward_model"
    elif found.kind in ("text", "chat") or (found.kind == "struct" and "ground_truth" not in found.fields):
        yield "reward_model.ground_truth"


def rewards_read_columns(settings: Settings) -> bool:
    """verl's own reward managers do, with a reward function of the user's too; a reward model alone does not."""
    own = settings.text("reward.reward_manager.source")
    if any(settings.text(key) not in (None, *_MANAGERS) for key in _MANAGER_KEYS):
        return False
    if own not in (None, "register") or settings.value("reward_model.reward_loop_module_path") is not None:
        return False
    function = any(settings.value(f"{key}custom_reward_function.path") is not None for key in ("reward.", ""))
    model = any(settings.truth(f"{key}reward_model.enable") for key in ("reward.", ""))
    return function or not model


def own_agent_loop(settings: Settings) -> str | None:
    """An agent loop of the user's may score its answers itself."""
    agent = "actor_rollout_ref.rollout.agent"
    loop = settings.text(f"{agent}.default_agent_loop")
    if loop is not None and loop not in _AGENT_LOOPS:
        return loop
    return settings.text(f"{agent}.agent_loop_config_path")


def _train_rows(case: Case) -> int | None:
    """None: not all of them are known."""
    files = [one for one in case.data if one.key == TRAIN]
    rows = [one.rows for one in files if one.rows is not None and one.state == "read"]
    if not files or len(rows) < len(files) or case.settings.value("data.custom_cls.path") is not None:
        return None
    limit = case.settings.integer("data.train_max_samples")
    total = sum(rows)
    return min(total, limit) if limit is not None and limit > 0 else total


def _batch(settings: Settings) -> tuple[str, int] | None:
    """The key and the number of prompts that the train loader takes at once; None: they come one by one."""
    one_by_one = (
        version_key(settings.release) >= V1_SINCE and settings.truth("trainer.use_v1") and refills_one_by_one(settings)
    )
    if one_by_one or settings.config.startswith("fully_async"):
        return None
    for key in ("data.gen_batch_size", "data.train_batch_size"):
        size = settings.integer(key)
        if size:
            return key, size
    return None
