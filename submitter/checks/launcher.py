"""The launcher and the module that it starts: one driver or one process per NPU, and where these meet."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from fnmatch import fnmatchcase

from runtime_env.verl_defaults import version_key
from submitter.checks.case import Case
from submitter.checks.finding import Finding, Severity
from submitter.checks.hccl import EPHEMERAL
from submitter.checks.rule import Rule
from submitter.checks.working_dir_measure import module_of
from submitter.errors import Place
from submitter.job.nearest import NONE, nearest
from submitter.texts import Phrase

_EVER = ("0.7.1", "0.8.0", "0.9.0", "0.9.1")
ENTRY_POINTS: Mapping[str, tuple[str, ...]] = {
    # Modules with `if __name__ == "__main__"` in each tag or wheel of verl.
    "verl.trainer.main_ppo": _EVER,
    "verl.trainer.main_eval": _EVER,
    "verl.trainer.main_generation_server": _EVER,
    "verl.trainer.sft_trainer": _EVER,
    "verl.trainer.sft_trainer_ray": _EVER,
    "verl.model_merger": _EVER,
    "verl.experimental.fully_async_policy.fully_async_main": _EVER,
    "verl.experimental.one_step_off_policy.main_ppo": _EVER,
    "verl.experimental.vla.main_ppo": ("0.7.1",),
    "verl.experimental.vla.main_sac": ("0.7.1",),
    "verl.experimental.vla.prepare_libero_dataset": ("0.7.1",),
    "verl.experimental.fully_async_policy.unittest.simple_streaming_demo": _EVER,
    "verl.utils.debug.trajectory_tracker": _EVER,
    "verl.utils.reward_score.sandbox_fusion.utils": _EVER,
    "verl.trainer.main_ppo_sync": ("0.8.0",),
    "verl.trainer.main_ppo_v0": (),  # 0.9: what main_ppo imports; run by itself it does nothing
    "verl.trainer.main_generation": (),  # until 0.6
    "verl.trainer.fsdp_sft_trainer": (),  # until 0.6
}
"""The releases that can run each module. Releases in between have what the one before them had."""
OLDEST = version_key(_EVER[0])
"""Of older releases nothing is known."""
NEWEST = (0, 10)
"""verl's main of August 2026: nothing is known of what comes later."""
_SUCCESSORS: Mapping[str, str] = {
    "verl.trainer.main_ppo_sync": "verl.trainer.main_ppo",
    "verl.trainer.main_ppo_v0": "verl.trainer.main_ppo",
    "verl.trainer.main_generation": "verl.trainer.main_generation_server",
    "verl.trainer.fsdp_sft_trainer": "verl.trainer.sft_trainer",
}

_STARTS_RAY = (
    *("verl.trainer.main_*", "verl.trainer.sft_trainer_ray", "verl.experimental.*main*", "recipe.*.main_*"),
    *("recipe.*.*_main", "verl_recipe.*.main_*"),
)
"""Each calls ray.init() and places its workers itself."""
_NEEDS_TORCHRUN = ("verl.trainer.sft_trainer", "verl.trainer.fsdp_sft_trainer")
"""Each calls torch.distributed.init_process_group() with what torchrun puts into the environment."""

LOOPBACK = ("127.", "localhost", "::1", "0.0.0.0")
PRIVILEGED_PORT = 1024

_VERL, _RECIPE = "verl", "recipe"
_PACKAGES = frozenset(
    {"torch", "transformers", "accelerate", "deepspeed", "trl", "vllm", "sglang", "llamafactory", "swift", "megatron"}
    | {"mindspeed", "mindspeed_llm", "mindspeed_mm", "mindspeed_rl", "nemo", "openrlhf", "areal", "slime", "ray"}
    | {"peft", "datasets", "lightning", "pytorch_lightning", "msmodelslim"}
)
"""Whose modules are installed on the nodes, not brought by the job."""
_PORT_FLAGS = ("MASTER_PORT", "NNODES", "NPROC_PER_NODE")


def ray_under_torchrun(case: Case) -> list[Finding]:
    """Source: run_ppo and its kin call ray.init() in the process that torchrun starts once per NPU."""
    job = case.job
    if job.trainer.launcher != "torchrun" or not _matches(job.trainer.module, _STARTS_RAY):
        return []
    ranks = job.cluster.nodes * (job.trainer.torchrun.nproc_per_node if job.trainer.torchrun else 1)
    return [Finding("NR381", "error", _place(case), job.trainer.module, str(ranks))]


def torchrun_under_ray(case: Case) -> list[Finding]:
    """Source: verl/utils/distributed.py, initialize_global_process_group: RANK expected, but not set."""
    job = case.job
    if job.trainer.launcher != "ray" or job.trainer.module not in _NEEDS_TORCHRUN:
        return []
    return [Finding("NR382", "error", _place(case, "trainer.launcher"), "ray", job.trainer.module)]


def module_absent(case: Case) -> list[Finding]:
    """Source: the trees of verl 0.7.1, 0.8.0, 0.9.0 and 0.9.1."""
    module, release = case.job.trainer.module, case.stack.verl_release if case.stack else None
    if module.partition(".")[0] != _VERL or _ships(case, _VERL) or _ships(case, module):
        return []
    if module not in ENTRY_POINTS:
        return [_no_entry_point(case, module, release)]
    if release is None or version_key(release) < OLDEST or case.settings.release in ENTRY_POINTS[module]:
        return []
    return [_absent(case, "error", module, release, _SUCCESSORS.get(module, "verl.trainer.main_ppo"))]


def shadows_verl(case: Case) -> list[Finding]:
    """Source: Ray puts the working_dir before site-packages on every worker's import path."""
    if not _ships(case, "verl"):
        return []
    place = case.job.place("runtime_env.working_dir")
    return [Finding("NR384", "warning", place, case.job.runtime_env.working_dir, values={"verl": _verl(case)})]


def module_elsewhere(case: Case) -> list[Finding]:
    """Source: verl's recipes are a repository of their own; no release on the package index has them."""
    module, folder = case.job.trainer.module, case.job.runtime_env.working_dir
    package = module.partition(".")[0]
    if (
        not module
        or package == _VERL
        or package.lower() in _PACKAGES
        or _installs(case, package)
        or _ships(case, module)
    ):
        return []
    return [Finding("NR385", "warning", _place(case), module, folder, {"where": _where(case), "do": _bring(module)})]


def processes_per_node(case: Case) -> list[Finding]:
    """Source: torch.distributed.run starts nproc_per_node processes on each node; each takes the NPU of its rank."""
    job, options = case.job, case.job.trainer.torchrun
    if options is None or options.nproc_per_node == job.cluster.npus_per_node:
        return []
    severity: Severity = "error" if options.nproc_per_node > job.cluster.npus_per_node else "warning"
    place = _place(case, "trainer.torchrun.nproc_per_node")
    return [Finding("NR386", severity, place, str(options.nproc_per_node), str(job.cluster.npus_per_node))]


def loopback_master(case: Case) -> list[Finding]:
    """Source: every node would meet itself alone; npurun's launcher refuses an address that no node has."""
    options = case.job.trainer.torchrun
    if options is None or options.master_addr is None or case.job.cluster.nodes < 2:
        return []
    if not options.master_addr.lower().startswith(LOOPBACK):
        return []
    nodes = str(case.job.cluster.nodes)
    return [Finding("NR387", "error", _place(case, "trainer.torchrun.master_addr"), options.master_addr, nodes)]


def master_port(case: Case) -> list[Finding]:
    """Source: bind() below 1024 needs privileges; the kernel hands ports of its range to any connection."""
    options = case.job.trainer.torchrun
    if options is None or options.master_port is None:
        return []
    port = options.master_port
    if port >= PRIVILEGED_PORT and not EPHEMERAL[0] <= port <= EPHEMERAL[1]:
        return []
    limit = f"{PRIVILEGED_PORT}–{EPHEMERAL[0] - 1}"
    return [Finding("NR388", "warning", _place(case, "trainer.torchrun.master_port"), str(port), limit)]


def rendezvous_in_env(case: Case) -> list[Finding]:
    """Source: submitter/gang/launch_torchrun.py gives torchrun its options; torchrun sets MASTER_PORT itself."""
    if case.job.trainer.launcher != "torchrun":
        return []
    flags = [flag for flag in case.job.flags if flag.name in _PORT_FLAGS]
    return [Finding("NR389", "warning", flag.place, flag.value, None, {"name": flag.name}) for flag in flags]


def script_elsewhere(case: Case) -> list[Finding]:
    """Source: the trainer starts in the working_dir, which Ray unpacks and enters on each node."""
    script = case.job.trainer.script
    if script is None or posixpath.isabs(script) or _ships_script(case, script):
        return []
    place, folder = _place(case, "trainer.script"), case.job.runtime_env.working_dir
    return [Finding("NR390", "warning", place, script, folder, {"where": _where(case)})]


RULES = (
    Rule("NR381", ("error",), ray_under_torchrun),
    Rule("NR382", ("error",), torchrun_under_ray),
    Rule("NR383", ("error", "warning"), module_absent),
    Rule("NR384", ("warning",), shadows_verl),
    Rule("NR385", ("warning",), module_elsewhere),
    Rule("NR386", ("error", "warning"), processes_per_node),
    Rule("NR387", ("error",), loopback_master),
    Rule("NR388", ("warning",), master_port),
    Rule("NR389", ("warning",), rendezvous_in_env),
    Rule("NR390", ("warning",), script_elsewhere),
)


def _place(case: Case, key: str = "trainer.module") -> Place:
    return case.job.place(key)


def _no_entry_point(case: Case, module: str, release: str | None) -> Finding:
    """A misspelt name; of releases that are not known here, perhaps a name of theirs."""
    known = release is not None and version_key(release)[:3] >= OLDEST and version_key(release)[:2] <= NEWEST
    severity: Severity = "error" if known and not _installs(case, _VERL) else "warning"
    return _absent(case, severity, module, release, _meant(module))


def _absent(case: Case, severity: Severity, module: str, release: str | None, instead: str) -> Finding:
    return Finding("NR383", severity, _place(case), module, release, {"verl": _verl(case), "successor": instead})


def _meant(module: str) -> str:
    """The entry point of the same last name, if there is one; else the most alike."""
    found = _namesake(module) or nearest(module, ENTRY_POINTS)
    return "verl.trainer.main_ppo" if found == NONE else found


def _where(case: Case) -> Phrase:
    folder = case.job.runtime_env.working_dir
    return Phrase("NR385.folder", {"folder": folder}) if folder else Phrase("NR385.none")


def _bring(module: str) -> Phrase:
    """`main_ppo` alone is most likely verl's."""
    if module.partition(".")[0] == _RECIPE:
        return Phrase("NR385.recipe")
    meant = _namesake(module)
    return Phrase("NR385.verl", {"successor": meant}) if meant else Phrase("NR385.own")


def _namesake(module: str) -> str | None:
    last = module.removesuffix(".py").rpartition(".")[2]
    return next((one for one in ENTRY_POINTS if one.rpartition(".")[2] == last), None)


def _installs(case: Case, package: str) -> bool:
    """The job's pip requirements name it."""
    wanted = package.lower().replace("-", "_")
    return any(wanted in requirement.lower().replace("-", "_") for requirement in case.job.runtime_env.pip)


def _matches(module: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(module, pattern) for pattern in patterns)


def _ships(case: Case, module: str) -> bool:
    """The job's working_dir has that module, as a file or as a package."""
    found = case.working_dir.measure if case.working_dir else None
    if found is None:
        return False
    return any(one == module or one.startswith(f"{module}.") for one in found.modules)


def _ships_script(case: Case, script: str) -> bool:
    found = case.working_dir.measure if case.working_dir else None
    return found is not None and module_of(posixpath.normpath(script)) in found.modules


def _verl(case: Case) -> str:
    return f"{_VERL} {case.stack.verl_release}" if case.stack else _VERL
