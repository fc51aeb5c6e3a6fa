from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from submitter.gang import pinning, verl_plugin
from submitter.gang.compat import NODE_ID_LABEL
from submitter.gang.pinning import Pinning

NAMES = json.loads((Path(__file__).parents[1] / "data" / "verl_names.json").read_text())["versions"]
NODES = ("aa", "bb", "cc", "dd")


# what of verl the handover rests on


def fake_base(functions: dict[str, list[str]]) -> Any:
    """A module with the given functions, each of which uses the given names."""
    base = ModuleType("base")
    for path, names in functions.items():
        owner, name = path.split(".")
        scope: dict[str, Any] = {}
        exec(f"def {name}(self):\n" + "".join(f"    self.{used}\n" for used in names or ["x"]), scope)
        if not hasattr(base, owner):
            setattr(base, owner, type(owner, (), {}))
        setattr(getattr(base, owner), name, scope[name])
    base.PlacementGroupSchedulingStrategy = lambda *args, **kwargs: (args, kwargs)  # type: ignore[attr-defined]
    return base


@pytest.mark.parametrize("version", sorted(NAMES))
def test_every_supported_verl_has_the_names(version: str) -> None:
    verl_plugin.check_names(fake_base(NAMES[version]["functions"]), version)


@pytest.mark.parametrize(("path", "name"), verl_plugin.USES)
def test_a_verl_that_lost_a_name_is_refused_by_name_and_version(path: str, name: str) -> None:
    functions = dict(NAMES["0.9.1"]["functions"])
    functions[path] = [used for used in functions[path] if used != name]
    with pytest.raises(verl_plugin.UnsupportedVerlError, match=rf"verl 1\.2\.3: it does not use {name} in {path}"):
        verl_plugin.check_names(fake_base(functions), "1.2.3")
    functions.pop(path)
    with pytest.raises(verl_plugin.UnsupportedVerlError, match=rf"verl 1\.2\.3: it has no {path} "):
        verl_plugin.check_names(fake_base(functions), "1.2.3")


# pools


class Held:
    node_ids = NODES
    by_label = True

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def take(self, *call: Any) -> list[str]:
        self.calls.append(("take", *call))
        return ["group"]

    def cpu_groups(self, *call: Any) -> list[str]:
        self.calls.append(("cpu_groups", *call))
        return ["cpu group"]

    def check(self, *call: Any) -> None:
        self.calls.append(("check", *call))


def pool(base: Any, **fields: Any) -> Any:
    made = base.RayResourcePool.__new__(base.RayResourcePool)
    vars(made).update(pgs=None, use_gpu=True, name_prefix="global_pool", max_colocate_count=3, _store=[2, 2], **fields)
    return made


def handed_over() -> tuple[Any, Held]:
    base, held = fake_base(NAMES["0.9.1"]["functions"]), Held()
    verl_plugin.hand_over(base, lambda: held, lambda strategy: strategy)
    return base, held


def test_a_pool_takes_its_share_once_and_keeps_it() -> None:
    base, held = handed_over()
    trainer = pool(base)
    assert trainer.get_placement_groups(strategy="STRICT_PACK", device_name="npu") == ["group"]
    assert trainer.get_placement_groups() == ["group"]
    assert held.calls == [("take", "global_pool", [2, 2])]


def test_a_sub_pool_keeps_the_groups_it_was_made_with() -> None:
    base, held = handed_over()
    part = pool(base)
    part.pgs = ["given"]
    assert part.get_placement_groups() == ["given"]
    assert held.calls == []


def test_a_pool_without_npus_gets_cpu_groups_on_the_gang() -> None:
    base, held = handed_over()
    cpus = pool(base)
    cpus.use_gpu = False
    assert cpus.get_placement_groups() == ["cpu group"]
    assert held.calls == [("cpu_groups", "global_pool", [2, 2], 3)]


def test_the_check_of_free_npus_asks_the_gang() -> None:
    base, held = handed_over()
    manager = base.ResourcePoolManager()
    manager.resource_pool_spec = {"global_pool": [16, 16], "reward_pool": [8]}
    manager._check_resource_available()
    assert held.calls == [("check", {"global_pool": [16, 16], "reward_pool": [8]})]


# views


def test_a_view_shifts_bundle_indexes_into_the_whole_group() -> None:
    from ray._raylet import PlacementGroupID
    from ray.util.placement_group import PlacementGroup

    from submitter.gang.adopt import BundleView, strategy_within

    whole = PlacementGroup(PlacementGroupID(b"x" * 18), [{"NPU": 1.0, "CPU": float(i)} for i in range(16)])
    view = BundleView(whole, 8, 4)
    assert view.id == whole.id
    assert [bundle["CPU"] for bundle in view.bundle_specs] == [8.0, 9.0, 10.0, 11.0]
    strategy = strategy_within(lambda group, index, **options: (group, index, options))
    assert strategy(placement_group=view, placement_group_bundle_index=3) == (whole, 11, {})
    assert strategy(placement_group=view)[1] == 8
    assert strategy(placement_group=whole, placement_group_bundle_index=3)[1] == 3
    assert strategy(placement_group=whole)[1] == -1


def test_a_view_reaches_another_process_with_its_offset() -> None:
    # verl's asynchronous trainers send worker groups, and with them their pools, from actor to actor
    from ray import cloudpickle
    from ray._raylet import PlacementGroupID
    from ray.util.placement_group import PlacementGroup

    from submitter.gang.adopt import BundleView

    view = BundleView(PlacementGroup(PlacementGroupID(b"x" * 18), [{"NPU": 1.0}] * 16), 8, 4)
    copy = cloudpickle.loads(cloudpickle.dumps(view))
    assert (copy.first, copy.bundle_count, copy.whole.bundle_count) == (8, 4, 16)
    assert copy == view


# actors without NPUs


def affinity(node_id: str, soft: bool = False) -> SimpleNamespace:
    return SimpleNamespace(node_id=node_id, soft=soft)


def by_label() -> Pinning:
    return Pinning(NODES, by_label=True, affinity=affinity)


@pytest.mark.parametrize("strategy", [None, "DEFAULT", "SPREAD"])
def test_an_actor_without_a_place_gets_the_gangs_nodes(strategy: str | None) -> None:
    options = by_label().options({"scheduling_strategy": strategy, "num_cpus": 1, "placement_group": "default"})
    assert options["label_selector"] == {NODE_ID_LABEL: "in(aa,bb,cc,dd)"}
    assert options["num_cpus"] == 1


def test_without_label_selectors_actors_take_turns_on_the_gangs_nodes() -> None:
    turns = Pinning(NODES, by_label=False, affinity=affinity)
    chosen = [turns.options({})["scheduling_strategy"] for _ in range(5)]
    assert chosen == [affinity(node) for node in ("aa", "bb", "cc", "dd", "aa")]


def test_a_soft_affinity_cannot_fall_back_outside_the_gang() -> None:
    turns = by_label()
    assert turns.options({"scheduling_strategy": affinity("cc", soft=True)})["scheduling_strategy"] == affinity("cc")
    outside = [turns.options({"scheduling_strategy": affinity("spare", soft=True)}) for _ in range(2)]
    assert [options["scheduling_strategy"].node_id for options in outside] == ["aa", "bb"]
    assert not any(options["scheduling_strategy"].soft for options in outside)


@pytest.mark.parametrize(
    "options",
    [
        {"label_selector": {"pool": "judge"}},
        {"scheduling_strategy": SimpleNamespace(placement_group="group")},
        {"scheduling_strategy": affinity("spare")},
        {"scheduling_strategy": SimpleNamespace(hard=[], soft=[])},
        {"placement_group": "group"},
        {"resources": {"judge": 1}},
        {"num_gpus": 1},
    ],
)
def test_an_actor_that_names_its_place_or_a_resource_is_left_alone(options: dict[str, Any]) -> None:
    assert by_label().options(options) == options


def test_a_selector_of_64_nodes_is_valid_for_ray() -> None:
    from ray._common.ray_option_utils import validate_actor_options

    ids = [f"{number:056x}" for number in range(64)]
    options = Pinning(ids, by_label=True, affinity=affinity).options({})
    validate_actor_options(options, in_options=True)
    assert all(node_id in options["label_selector"][NODE_ID_LABEL] for node_id in ids)


class FakeActorClass:
    def _remote(self, args: Any = None, kwargs: Any = None, **options: Any) -> Any:
        return args, kwargs, options


def fake_ray(caller: str) -> Any:
    found = [{"NodeID": node} for node in (*NODES, "spare")]
    actor_class = type("ActorClass", (FakeActorClass,), {"_remote": FakeActorClass._remote})
    ray = SimpleNamespace(
        actor=SimpleNamespace(ActorClass=actor_class), nodes=lambda: found, is_initialized=lambda: True
    )
    verl_plugin.keep_on_gang(ray, Held, affinity)
    scope = {"__name__": caller, "ray": ray}
    exec("def seen(): return [node['NodeID'] for node in ray.nodes()]", scope)
    ray.seen = scope["seen"]
    return ray


def test_a_new_actor_is_created_with_the_gangs_selector() -> None:
    args, kwargs, options = fake_ray("x").actor.ActorClass()._remote([1], {"a": 2}, name="TaskRunner")
    assert (args, kwargs) == ([1], {"a": 2})
    assert options == {"name": "TaskRunner", "label_selector": {NODE_ID_LABEL: "in(aa,bb,cc,dd)"}}


@pytest.mark.parametrize(
    ("caller", "seen"),
    [
        ("verl.experimental.agent_loop.agent_loop", list(NODES)),
        ("transfer_queue.utils.common", list(NODES)),
        (pinning.RANK_ORDER_MODULE, [*NODES, "spare"]),
        ("verlike", [*NODES, "spare"]),
        ("ray.util.state", [*NODES, "spare"]),
    ],
)
def test_only_code_that_places_verls_actors_sees_the_gang_alone(caller: str, seen: list[str]) -> None:
    assert fake_ray(caller).seen() == seen


# the module itself


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2]), **environment}
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=30)


def test_outside_an_attempt_the_plugin_imports_nothing_and_says_nothing() -> None:
    done = run_python("import sys, submitter.gang.verl_plugin; assert not {'ray', 'verl'} & set(sys.modules)")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_missing_secret_stops_the_process_before_verl_and_names_its_source() -> None:
    references = json.dumps({"WANDB_API_KEY": {"file": "/no/such key"}, "HF_TOKEN": {"env": "NODE_TOKEN"}})
    done = run_python(
        "import submitter.gang.verl_plugin", NPURUN_ATTEMPT="r-a1", NPURUN_SECRETS=references, NODE_TOKEN="s3cret"
    )
    assert done.returncode == 1
    assert "WANDB_API_KEY (file /no/such key: does not exist)" in done.stderr
    assert "s3cret" not in done.stderr + done.stdout


def test_secrets_and_the_loggers_ids_are_in_the_environment_before_verl_is_imported(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("s3cret\n")
    (tmp_path / "verl").mkdir()
    (tmp_path / "verl" / "__init__.py").write_text(
        "import os; assert os.environ['KEY'] == 's3cret' and os.environ['WANDB_RUN_ID'] == 'r'; raise SystemExit(7)"
    )
    done = run_python(
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import submitter.gang.verl_plugin",
        NPURUN_RUN="r",
        NPURUN_ATTEMPT="r-a1",
        NPURUN_SECRETS=json.dumps({"KEY": {"file": str(tmp_path / "key")}}),
    )
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")
