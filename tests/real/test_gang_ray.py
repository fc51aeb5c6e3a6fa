"""The gang's driver with launcher ray on a real local cluster: place, prove, train, and leave nothing."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from submitter.rehearsal.local_cluster import LocalCluster
from tests.support import jobs

pytestmark = pytest.mark.real

WAITS = """
    import os, signal, sys, time
    signals = []
    signal.signal(signal.SIGTERM, lambda number, frame: signals.append(number))
    print("step:1 - reward:0.5", flush=True)
    end = time.monotonic() + 120
    while time.monotonic() < end and not signals:
        time.sleep(0.05)
    time.sleep(1)  # a second signal would come now
    print(f"signals {len(signals)}", flush=True)
    sys.exit(0)
"""

SHADOWS = """
    import os, ray, runpy, sys
    import jobs, runtime_env, submitter
    print("driver", [module.WHOSE for module in (jobs, submitter, runtime_env)])
    ray.init(logging_level="warning", log_to_driver=False)

    @ray.remote
    def whose():
        import jobs, npurun_gang, runtime_env, submitter
        return [module.WHOSE for module in (jobs, submitter, runtime_env)]

    gang = ray.get_actor("gang", namespace="npurun-" + os.environ["NPURUN_ATTEMPT"])
    facts = ray.get(gang.facts.remote())
    print("worker", ray.get(whose.remote()))
    print("gang", len(facts["groups"]), facts["bundles_per_group"], facts["supports_label_selector"])
    print("no newline at the end", end="")
"""


@pytest.mark.timeout(240)
def test_four_nodes_are_placed_proved_and_trained_beside_folders_named_like_ours(
    cluster5: LocalCluster, tmp_path: Path
) -> None:
    for name in ("jobs", "submitter", "runtime_env"):
        folder = tmp_path / "wd" / name
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(f"WHOSE = 'user {name}'\n")
    plan = jobs.plan(jobs.trainer(tmp_path / "wd", SHADOWS))
    submitted = jobs.submit(cluster5, plan, working_dir=tmp_path / "wd")
    result = submitted.wait_end()
    assert result.info.status == "SUCCEEDED", result
    assert result.end is not None, result
    ips = [node.ip for node in cluster5.nodes[:4]]
    assert (result.end["reason"], result.end["code"], result.end["nodes"]) == ("succeeded", 0, ips)
    users = "['user jobs', 'user submitter', 'user runtime_env']"
    assert f"driver {users}" in result.lines
    assert f"worker {users}" in result.lines
    assert "gang 4 16 True" in result.lines
    assert [proof["ip"] for proof in result.proofs] == ips
    for proof in result.proofs:
        assert proof["flags"] == {**jobs.SIX_FLAGS, jobs.NOSET_FLAG: "1"}
        assert proof["differs"] == {}
        assert proof["facts"]["npu_ids"] == ["0"]
        assert proof["facts"]["visible_devices"] is None
    jobs.wait_nothing_left(submitted)


@pytest.mark.timeout(240)
def test_a_stop_in_training_reaches_the_trainer_once_and_leaves_nothing(cluster5: LocalCluster, tmp_path: Path) -> None:
    submitted = jobs.submit(cluster5, jobs.plan(jobs.trainer(tmp_path, WAITS)), working_dir=tmp_path)
    submitted.wait_line("step:1")
    submitted.stop()
    result = submitted.wait_end(bound_s=60)
    assert result.info.status == "STOPPED", result
    assert result.end is not None, result
    assert (result.end["reason"], result.end["exit"], result.end["code"]) == ("stopped", 6, 0)
    assert "signals 1" in result.lines, result
    jobs.wait_nothing_left(submitted)


@pytest.mark.timeout(240)
def test_a_driver_that_is_killed_leaves_nothing(cluster5: LocalCluster, tmp_path: Path) -> None:
    submitted = jobs.submit(cluster5, jobs.plan(jobs.trainer(tmp_path, WAITS)), working_dir=tmp_path)
    submitted.wait_line("step:1")
    os.kill(submitted.driver_pid(), signal.SIGKILL)
    result = submitted.wait_end(bound_s=60)
    assert result.info.status == "FAILED", result
    assert result.end is None
    jobs.wait_nothing_left(submitted)


@pytest.mark.timeout(120)
def test_more_nodes_than_there_are_end_in_bounded_time_with_a_table(cluster5: LocalCluster) -> None:
    submitted = jobs.submit(cluster5, jobs.plan(["true"], nodes=6, place_wait_s=4))
    result = submitted.wait_end(bound_s=60)
    assert result.info.status == "FAILED", result
    assert result.info.driver_exit_code == 5
    assert result.end is not None
    assert (result.end["reason"], result.end["phase"]) == ("not_placed", "placement")
    assert result.end["evidence"][0] == "5 fit, 6 wanted"
    assert f"[npurun]   {cluster5.nodes[4].ip}: fits" in result.lines, result
    assert any("cannot fit now" in line and "even when free only 5 would fit" in line for line in result.lines)
    jobs.wait_nothing_left(submitted)


@pytest.mark.timeout(240)
def test_two_drivers_that_want_the_same_nodes_train_one_after_the_other(cluster5: LocalCluster, tmp_path: Path) -> None:
    command = jobs.trainer(
        tmp_path, "import time; print('began', time.time()); time.sleep(2); print('done', time.time())"
    )
    plan = jobs.plan(command, place_wait_s=90)
    both = [jobs.submit(cluster5, plan, working_dir=tmp_path) for _ in range(2)]
    results = [submitted.wait_end() for submitted in both]
    times = []
    for result in results:
        assert result.end is not None and result.end["reason"] == "succeeded", result
        times.append([float(line.split()[1]) for line in result.lines if line.startswith(("began", "done"))])
    first, second = sorted(times)
    assert first[1] < second[0]
    for submitted in both:
        jobs.wait_nothing_left(submitted)


RIVAL = """
    import ray, time
    ray.init(logging_level="warning", log_to_driver=False)

    @ray.remote(num_cpus=0, resources={"NPU": 1})
    class Greedy:
        def now(self):
            return time.time()

    @ray.remote(num_cpus=0, resources={"NPU": 1})
    def greedy():
        return time.time()

    asked = [greedy.remote(), Greedy.remote().now.remote(), ray.util.placement_group([{"NPU": 1}]).ready()]
    print("rival waits", flush=True)
    ready, _ = ray.wait(asked, num_returns=1, timeout=150)
    print("rival got", time.time(), flush=True)
"""


@pytest.mark.timeout(300)
def test_a_rival_that_waits_for_one_npu_gets_none_before_the_end_and_who_holds_them_is_told(
    cluster5: LocalCluster, tmp_path: Path
) -> None:
    """The gang holds every NPU of the cluster, as 16 bundles of one on each of 5 nodes."""
    command = jobs.trainer(
        tmp_path,
        """
        import time, pathlib, sys
        print("step:1", flush=True)
        end = time.monotonic() + 120
        while time.monotonic() < end and not pathlib.Path(sys.argv[1]).exists():
            time.sleep(0.1)
        print("trainer done", time.time())
        """,
    )
    rival_script = tmp_path / "rival" / "rival.py"
    jobs.trainer(rival_script.parent, RIVAL, name="rival")
    plan = jobs.plan([*command, str(tmp_path / "go")], nodes=5)
    submitted = jobs.submit(cluster5, plan, working_dir=tmp_path)
    submitted.wait_line("step:1")
    rival = jobs.submit_plain(cluster5, "python3 rival.py", working_dir=rival_script.parent)
    rival.wait_line("rival waits")
    other = jobs.submit(cluster5, jobs.plan(["true"], place_wait_s=2))
    refused = other.wait_end()
    held = f"{cluster5.nodes[0].ip}: 0 of 16 NPU free, 16 wanted"
    assert any(line.startswith(held) and f"(held by {submitted.attempt})" in line for line in refused.end_evidence())
    (tmp_path / "go").touch()
    result = submitted.wait_end()
    assert result.end is not None and result.end["reason"] == "succeeded", result
    done = float(next(line for line in result.lines if line.startswith("trainer done")).split()[2])
    got = float(rival.wait_line("rival got").split()[2])
    assert got > done
    rival.wait_end()
    jobs.wait_nothing_left(submitted)
