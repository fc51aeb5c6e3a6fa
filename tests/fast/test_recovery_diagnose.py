"""The decision over logs and facts: what is certain first, the cause before its cascades, else unknown."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.errors import UsageError
from submitter.gang.record import EXIT_OF_REASON, End
from submitter.recovery.diagnose import Diagnosis, Facts, diagnose
from submitter.recovery.logs import Source, from_text, sources
from submitter.recovery.reasons import REASONS

DATA = Path(__file__).parents[1] / "data" / "verl_logs"
START = (
    "ray init kwargs: {'num_cpus': None}\n"
    "2026-11-30 11:00:00,000\tINFO worker.py:1841 -- Connecting to existing Ray cluster at address: 10.0.0.1:6379...\n"
)
FATAL = "Error executing job with overrides: ['trainer.device=npu']\n"
HEAD = "Traceback (most recent call last):\n"
VERL = '  File "/opt/lib/python3.11/site-packages/verl/trainer/main_ppo.py", line 93, in run_ppo\n    ray.get(x)\n'
OOM = "RuntimeError: NPU out of memory. Tried to allocate 2.57 GiB (NPU 3; 61.28 GiB total capacity)\n"
GLOO = (
    "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer "
    "[10.0.0.9]:24808. This is typically caused by a remote worker crashing.\n"
)
FAILED = Facts(status="FAILED", error_type="JOB_ENTRYPOINT_COMMAND_ERROR", exit_code=1)


def step(number: int, second: int = 0) -> str:
    return f"(TaskRunner pid=9, ip=10.0.0.1) 2026-11-30 11:00:{second:02} step:{number} - actor/loss:0.1\n"


def judge(*logs: str, facts: Facts = Facts(), attempt: int | None = None) -> Diagnosis:  # noqa: B008
    named = [from_text(f"log{number}", log) for number, log in enumerate(logs)]
    return diagnose(named, facts=facts, attempt=attempt)


def end_line(reason: str, **fields: Any) -> str:
    return End("r-a1", "training", reason, **fields).line() + "\n"


def test_what_the_diagnosis_says_as_json_is_what_others_build_on() -> None:
    found = judge(START + step(3) + f"(W pid=4, ip=10.0.0.2) {HEAD}(W pid=4, ip=10.0.0.2) {OOM}" + FATAL)
    document = json.loads(json.dumps(found.as_json("zh")))
    assert {"reason", "retry", "node", "summary", "fix", "evidence", "candidates"} <= document.keys()
    assert (document["reason"], document["retry"]) == ("npu_out_of_memory", "after_change")
    assert document["evidence"][0] == {"file": "log0", "line": 5, "text": found.evidence[0].text}
    assert document["values"]["step"] == 3 and "内存" in document["summary"]
    assert Diagnosis.from_json(document) == found


@pytest.mark.parametrize(
    ("status", "reason"),
    [("SUCCEEDED", "succeeded"), ("STOPPED", "stopped"), ("RUNNING", "still_running"), ("PENDING", "still_running")],
)
def test_rays_word_on_a_job_stands(status: str, reason: str) -> None:
    log = START + step(1) + f"(W pid=4) {HEAD}(W pid=4) {OOM}"
    assert judge(log, facts=Facts(status=status)).reason == reason
    assert judge(facts=Facts(status=status)).reason == reason


@pytest.mark.parametrize("reason", sorted(EXIT_OF_REASON))
def test_what_the_driver_ended_an_attempt_for_is_certain(reason: str) -> None:
    """But for a trainer that failed: there the log says more."""
    end = end_line(reason, node="10.0.0.3", evidence=("it was so",))
    found = judge(START + step(1) + end, facts=FAILED if EXIT_OF_REASON[reason] == 1 else Facts())
    assert found.reason == ("unknown" if reason == "trainer_failed" else reason)
    if reason not in ("trainer_failed", "succeeded", "stopped"):
        assert found.node == "10.0.0.3" and found.evidence[0].text == "it was so" and found.evidence[0].line == 4
    refined = judge(START + f"(W pid=4) {HEAD}(W pid=4) {OOM}" + end)
    own = reason not in ("trainer_failed", "driver_error", "launch_failed")
    assert refined.reason == (reason if own else "npu_out_of_memory")


def test_an_end_record_that_only_the_ledger_has_counts() -> None:
    end = json.loads(end_line("node_frozen", node="10.0.0.4", evidence=("10.0.0.4 is silent",)).split(" end ")[1])
    found = judge(facts=Facts(status="FAILED", end=end))
    assert (found.reason, found.node, found.evidence[0].line) == ("node_frozen", "10.0.0.4", 0)


def test_an_end_record_may_be_long() -> None:
    evidence = tuple("x" * 900 for _ in range(40))
    found = judge(START + end_line("node_lost", node="10.0.0.3", evidence=evidence))
    assert (found.reason, found.node) == ("node_lost", "10.0.0.3")


def test_broken_end_records_are_no_end() -> None:
    broken = ['{"reason":', '{"reason": 3}', "{[[[["]
    broken += [f'{{"reason": "node_lost", {more}}}' for more in ('"nodes": 5', '"nodes": [["x"]]', '"evidence": 7')]
    for one in broken:
        assert judge(f"{START}{step(1)}[npurun] end {one}\n").reason == "still_running"
    assert judge(START + '[npurun] end {"reason": "node_lost", "nodes": null}\n').reason == "node_lost"


def test_a_node_that_no_text_holds_can_be_written_down_all_the_same() -> None:
    assert judge(START + '[npurun] end {"reason": "node_lost", "node": "\\ud800"}\n').node == "?"


@pytest.mark.parametrize(
    ("code", "reason"),
    [(-9, "worker_killed"), (137, "worker_killed"), (-11, "worker_crashed"), (134, "worker_crashed"), (1, "unknown")],
)
def test_a_trainer_that_a_signal_ended_says_nothing_itself(code: int, reason: str) -> None:
    assert judge(START + step(1) + end_line("trainer_failed", code=code)).reason == reason
    assert judge(START + step(1), facts=Facts(status="FAILED", exit_code=code)).reason == reason


def test_rays_error_types_say_more_than_survivors_and_less_than_causes() -> None:
    died = Facts(status="FAILED", error_type="JOB_SUPERVISOR_ACTOR_DIED", message="The supervisor died.\nmore")
    assert judge(facts=died).reason == "job_supervisor_actor_died"
    assert judge(facts=died).evidence[0].text == "The supervisor died."
    assert judge(START + GLOO, facts=died).reason == "job_supervisor_actor_died"
    assert judge(START + f"(W pid=4) {OOM}", facts=died).reason == "npu_out_of_memory"
    odd = Facts(status="FAILED", error_type="SOMETHING_NEW")
    assert judge(facts=odd).reason == "unknown"


def test_the_earliest_cause_wins_over_what_came_of_it() -> None:
    """The survivors' lines come first in the log, and are no cause."""
    log = START + step(1) + f"(W pid=1) {GLOO}" + f"(W pid=2, ip=10.0.0.2) {OOM}" + FATAL + HEAD + VERL + GLOO
    found = judge(log)
    assert found.reason == "npu_out_of_memory" and "peer_lost" in [one.reason for one in found.candidates]
    assert judge(log.replace(OOM, "x\n")).reason == "peer_lost"


def test_between_files_the_clock_decides() -> None:
    driver = START + "2026-11-30 11:10:00,000 ERROR AssertionError: only support equal chunk. Got size of DataProto 2\n"
    early = f"2026-11-30 11:09:00,000 ERROR {OOM}"
    late = f"2026-11-30 11:11:00,000 ERROR {OOM}"
    assert judge(driver + FATAL, early).reason == judge(early, driver + FATAL).reason == "npu_out_of_memory"
    assert judge(driver + FATAL, late).reason == judge(late, driver + FATAL).reason == "batch_not_divisible"


def test_what_the_run_went_on_after_did_not_end_it() -> None:
    handled = f"(W pid=4) {OOM}"
    assert judge(START + handled + step(1) + step(2) + step(3) + FATAL + HEAD + VERL + "E: x\n").reason == "unknown"
    assert judge(START + step(1) + step(2) + handled + FATAL).reason == "npu_out_of_memory"


def test_a_warning_proves_nothing() -> None:
    log = START + "(W pid=1) WARNING 11-30 11:00:00 [x.py:1] batch_size (32) must be divisible by 3\n" + FATAL
    assert judge(log, facts=FAILED).reason == "unknown"


USER = (
    HEAD
    + '  File "/opt/python3.11/site-packages/verl/experimental/reward_loop/naive.py", line 7, in run_single\n    f()\n'
    + '  File "/data/my reward.py", line 12, in compute_score\n    return int(answer)\n'
    + "ZeroDivisionError: division by zero\n"
)


def test_an_exception_of_the_users_code_is_the_users() -> None:
    lines = "".join(f"(AgentLoopWorker pid=3) {line}\n" for line in USER.splitlines())
    found = judge(START + lines + FATAL + HEAD + VERL + "RuntimeError: no materializable trajectories\n")
    assert found.reason == "reward_error" and found.node is None
    assert found.values["place"] == "/data/my reward.py:12"
    assert found.values["exception"] == "ZeroDivisionError: division by zero"
    agent = (
        lines.replace("reward_loop/naive", "agent_loop/x").replace("my reward", "agent").replace("compute_score", "run")
    )
    assert judge(START + agent + FATAL).reason == "user_exception"


def test_a_lost_worker_is_not_the_users_fault() -> None:
    """An exception that was handled stands above; the attempt ended for another reason."""
    lines = "".join(f"(AgentLoopWorker pid=3) {line}\n" for line in USER.splitlines())
    died = "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n\tip: 10.0.0.7\n"
    found = judge(START + lines + FATAL + HEAD + VERL + died)
    assert (found.reason, found.node) == ("actor_died", "10.0.0.7")
    assert "reward_error" in [one.reason for one in found.candidates]


def test_an_unknown_failure_is_unknown_with_the_likeliest_lines() -> None:
    found = judge(START + step(4) + FATAL + HEAD + VERL + "my.pkg.FluxError: the flux is inverted\n")
    assert (found.reason, found.retry, found.node) == ("unknown", "unknown", None)
    assert "the flux is inverted" in found.evidence[-1].text and found.evidence[-1].line == 8
    assert "main_ppo.py:93 in run_ppo" in found.evidence[-1].text
    plain = judge("hello\nERROR: the flux is inverted\nbye\n")
    assert plain.reason == "unknown" and plain.evidence[0].text == "ERROR: the flux is inverted"


@pytest.mark.parametrize("log", ["", "\n\n", "hello\nworld\n", "\0\0\0", "\ufeff"])
def test_a_log_that_says_nothing_is_unknown(log: str) -> None:
    assert judge(log).reason == "unknown"
    assert judge().reason == "unknown"


def test_a_log_without_an_end_may_still_run() -> None:
    found = judge(START + step(1) + step(2))
    assert found.reason == "still_running" and "step:2 - " in found.evidence[0].text and found.values["step"] == 2


def test_a_log_that_ends_well_without_rays_word_succeeded() -> None:
    done = step(8) + "Training Progress: 100%|####| 8/8 [00:24<00:00]\n(T pid=1) Final validation metrics: {}\n"
    assert judge(START + done).reason == "succeeded"
    assert judge(START + done + FATAL + HEAD + VERL + OOM).reason == "npu_out_of_memory"
    assert judge(START + done.replace("8/8", "7/8").replace("100%", "87%")).reason == "still_running"


def test_of_several_attempts_the_last_counts_unless_another_is_asked_for() -> None:
    first = START + step(1) + f"(W pid=4) {OOM}" + FATAL
    second = START + step(1) + FATAL + HEAD + VERL + GLOO
    third = START + step(1)
    for logs in ((first + second + third,), (first, second.replace("11:00", "12:00"), third.replace("11:00", "13:00"))):
        assert judge(*logs).reason == "still_running" and judge(*logs).values["attempts"] == 3
        assert [judge(*logs, attempt=one).reason for one in (1, 2, 3)] == [
            "npu_out_of_memory",
            "peer_lost",
            "still_running",
        ]
        with pytest.raises(UsageError):
            judge(*logs, attempt=4)


def test_a_lost_node_is_the_one_nobody_complains_from() -> None:
    log = (DATA / "fail-node-loss.log.gz").read_bytes()
    found = diagnose([Source("x", lambda: [log])])
    assert (found.reason, found.node, found.retry) == ("raylet_lost", "127.0.0.2", "exclude_node")
    named = gzip.decompress(log).replace(b"(raylet)", b"(raylet, ip=10.0.0.8)")
    assert diagnose([Source("x", lambda: [named])]).node == "10.0.0.8"


def test_the_node_is_where_it_was_raised_not_where_it_was_told() -> None:
    """Ray shows a remote actor's exception in its caller's log."""
    told = (
        f"(TaskRunner pid=9, ip=10.0.0.1) {HEAD}"
        "(TaskRunner pid=9, ip=10.0.0.1) ray.exceptions.RayTaskError(RuntimeError): ray::W.f() (pid=7, ip=10.0.0.6)\n"
        f"(TaskRunner pid=9, ip=10.0.0.1) {OOM}"
    )
    assert judge(START + told + FATAL).node == "10.0.0.6"


def test_secrets_of_the_log_do_not_come_out() -> None:
    secret = "hf_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"
    raised = f"ValueError: cannot log in with HF_TOKEN={secret} and password: hunter22222\n"
    found = judge(START + FATAL + HEAD + VERL + raised)
    said = json.dumps(found.as_json())
    assert secret not in said and "hunter22222" not in said and "cannot log in" in said


def test_evidence_is_short_and_moves_no_cursor() -> None:
    log = START + "(W pid=4) \x1b[2J" + OOM.strip() + "\x1b[31m \x07" + "x" * 100_000 + "\n" + FATAL
    text = judge(log).evidence[0].text
    assert len(text) <= 400 and text.isprintable() and "out of memory" in text


@pytest.mark.parametrize("pack", [lambda data: data, gzip.compress, lambda data: data.replace(b"\n", b"\r\n")])
@pytest.mark.parametrize("log", sorted(DATA.glob("*.gz")), ids=lambda path: path.stem)
def test_the_same_log_in_another_form_is_the_same_failure(log: Path, pack: Any) -> None:
    data = gzip.decompress(log.read_bytes())
    known = diagnose([Source("x", lambda: [data])])
    found = diagnose([Source("x", lambda: [pack(data)])])
    assert (found.reason, found.node, found.evidence[0].line) == (known.reason, known.node, known.evidence[0].line)


@pytest.mark.parametrize("log", sorted(DATA.glob("*.gz")), ids=lambda path: path.stem)
def test_a_log_that_is_cut_anywhere_is_never_taken_for_another_failure(log: Path) -> None:
    """Of a beginning nothing is said but what the whole says, that it goes on, or that nothing is known."""
    data = gzip.decompress(log.read_bytes())
    known = diagnose([Source("x", lambda: [data])]).reason
    allowed = {known, "still_running", "unknown", "succeeded" if known == "stopped" else known}
    cuts = random.Random(5).sample(range(len(data)), 12)
    assert {diagnose([Source("x", lambda cut=cut: [data[:cut]])]).reason for cut in cuts} <= allowed  # type: ignore[misc]


@given(st.binary(max_size=600), st.sampled_from(sorted(DATA.glob("fail*.gz"))), st.integers(0, 200_000))
def test_junk_in_a_log_raises_nothing(junk: bytes, log: Path, at: int) -> None:
    data = gzip.decompress(log.read_bytes())
    found = diagnose([Source("x", lambda: [data[:at], junk, data[at:]])])
    assert found.reason in REASONS and found.retry == REASONS[found.reason].retry
    json.dumps(found.as_json("zh"))


def test_a_folder_of_one_attempt_is_one_case(tmp_path: Path) -> None:
    (tmp_path / "driver.log").write_text(START + FATAL + HEAD + VERL + GLOO)
    (tmp_path / "worker-10.0.0.2.out").write_text(OOM)
    found = diagnose(sources([str(tmp_path)]))
    assert found.reason == "npu_out_of_memory" and found.evidence[0].file.endswith("worker-10.0.0.2.out")


@pytest.mark.parametrize(
    ("place", "raised", "reason"),
    [
        (
            "verl/workers/rollout/vllm_rollout/bucketed_weight_transfer.py",
            "zmq.error.Again: Resource",
            "weight_sync_failed",
        ),
        ("megatron/training/checkpointing.py", "KeyError: 'iteration'", "checkpoint_mismatch"),
        ("verl/utils/tracking.py", "requests.exceptions.ConnectionError: HTTPSConnectionPool", "tracking_failed"),
        ("huggingface_hub/file_download.py", "requests.exceptions.ReadTimeout: timed out", "download_failed"),
        ("mbridge/core/bridge.py", "AttributeError: 'Qwen3Bridge' object has no attribute 'share'", "api_changed"),
        ("mbridge/core/bridge.py", "AttributeError: 'NoneType' object has no attribute 'share'", "unknown"),
    ],
)
def test_where_it_was_raised_tells_the_reason_when_the_words_do_not(place: str, raised: str, reason: str) -> None:
    """Also where the driver's own traceback repeats only what was raised, not where."""
    frame = f'  File "/opt/lib/python3.11/site-packages/{place}", line 3, in load_checkpoint\n    x()\n'
    worker = "".join(f"(W pid=4, ip=10.0.0.2) {line}\n" for line in (HEAD + frame + raised).splitlines())
    assert judge(START + worker + FATAL + HEAD + VERL + raised + "\n").reason == reason


@pytest.mark.parametrize(
    ("noise", "cause", "reason"),
    [
        ("AttributeError: 'LLM' object has no attribute 'engine'", OOM.strip(), "npu_out_of_memory"),
        ("Fatal Python error: Aborted", OOM.strip(), "npu_out_of_memory"),
        ("RuntimeError: DataLoader worker (pid(s) 3216) exited unexpectedly", OOM.strip(), "npu_out_of_memory"),
    ],
)
def test_what_often_follows_another_failure_is_the_reason_only_when_nothing_else_is(
    noise: str, cause: str, reason: str
) -> None:
    assert judge(START + noise + "\n" + cause + "\n" + FATAL).reason == reason
    assert judge(START + noise + "\n" + FATAL).reason not in (reason, "unknown")


def test_a_log_that_stops_at_what_a_survivor_says_is_no_running_one() -> None:
    """A part that somebody cut out: no header, and no end."""
    said = "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above).\n"
    assert judge(START + step(3) + said).reason == "rollout_engine_died"
    assert judge(START + step(3) + said + step(4) + step(5)).reason == "still_running"
    assert judge(START + step(3) + said, facts=Facts(status="RUNNING")).reason == "still_running"
