"""Tracebacks as blocks: chains of Python and of Ray, lines of others in between, whose code it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.recovery.traces import Frame, Trace, parse, user_frame

SITE = "/opt/venv/lib/python3.11/site-packages"
SENT = "/tmp/ray/session_1/runtime_resources/working_dir_files/_ray_pkg_ab"
"""Where Ray unpacks what a job sends along."""
HEAD = "Traceback (most recent call last):\n"


def frame(file: str, name: str = "f") -> str:
    return f'  File "{file}", line 7, in {name}\n    do()\n    ^^^^\n'


def read(text: str) -> Trace:
    found = parse(text.encode(), 1)
    assert found is not None
    return found


def test_the_exception_and_its_frames() -> None:
    trace = read(
        HEAD + frame("/a.py") + frame("/b.py", "g") + "ValueError: bad\nnext line of the message\nlog line 1\n"
    )
    assert trace.root.type == "ValueError" and trace.root.message.startswith("bad\nnext line")
    assert trace.root.frames == (Frame("/a.py", 7, "f"), Frame("/b.py", 7, "g"))


@pytest.mark.parametrize(
    "link",
    [
        "The above exception was the direct cause of the following exception:",
        "During handling of the above exception, another exception occurred:",
    ],
)
def test_of_a_chain_the_first_is_the_root(link: str) -> None:
    text = HEAD + frame("/a.py") + f"KeyError: 'x'\n\n{link}\n\n" + HEAD + frame("/b.py") + "RuntimeError: later\n"
    trace = read(text)
    assert trace.root.text == "KeyError: 'x'" and [one.text for one in trace.raised][-1] == "RuntimeError: later"


def test_what_ray_raises_again_has_its_root_inside() -> None:
    text = (
        HEAD
        + frame(f"{SITE}/ray/_private/worker.py", "get")
        + "ray.exceptions.RayTaskError(ValueError): \x1b[36mray::Runner.run()\x1b[39m (pid=4, ip=10.0.0.1)\n"
        + frame(f"{SITE}/verl/trainer/main_ppo.py", "run")
        + "ray.exceptions.RayTaskError(ValueError): ray::Worker.score() (pid=9, ip=10.0.0.2, repr=<w>)\n"
        + frame("/home/me/reward.py", "compute_score")
        + "ValueError: not a number\n"
    )
    root = read(text).root
    assert (root.text, root.task, root.pid, root.ip) == ("ValueError: not a number", "Worker.score", 9, "10.0.0.2")


def test_what_nobody_handled_in_an_actor_has_no_header() -> None:
    lines = (
        "Unhandled error (suppress with 'RAY_IGNORE_UNHANDLED_ERRORS=1'): ray::W.init() (pid=8, ip=10.0.0.5, a=b)\n"
        + frame(f"{SITE}/verl/workers/x.py")
        + "ValueError: strange\n"
    ).splitlines()
    root = read("".join(f"(TaskRunner pid=1) {line}\n" for line in lines)).root
    assert (root.text, root.ip, root.pid, root.task) == ("ValueError: strange", "10.0.0.5", 8, "W.init")


def test_what_ray_says_of_a_dead_actor_is_kept() -> None:
    text = (
        HEAD
        + frame(f"{SITE}/ray/x.py")
        + "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n"
        + "\tclass_name: WorkerDict\n\tpid: 16006\n\tip: 10.0.0.2\nThe actor is dead because its worker has died.\n"
    )
    assert read(text).root.about == {"class_name": "WorkerDict", "pid": "16006", "ip": "10.0.0.2"}


def test_ranks_that_write_in_turns_are_kept_apart() -> None:
    lines = (HEAD + frame("/a.py") + "ValueError: one\n").splitlines()
    both = "".join(f"(W pid=1) {line}\n(W pid=2, ip=10.0.0.2) {line.replace('one', 'two')}\n" for line in lines)
    trace = read(both)
    assert (trace.origin.pid, trace.root.text) == (1, "ValueError: one")


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "[rank3]: ",
        "(W pid=1) ",
        "(EngineCore_DP0 pid=7) ERROR 11-30 11:53:38 [core.py:712] ",
        "[default0]:[rank0]: ",
    ],
)
def test_each_line_may_have_a_prefix(prefix: str) -> None:
    lines = (HEAD + frame("/a.py") + "ValueError: one\n").splitlines()
    assert read("".join(f"{prefix}{line}\n" for line in lines)).root.text == "ValueError: one"


def test_a_line_of_a_logger_ends_the_block() -> None:
    text = HEAD + frame("/a.py") + "ValueError: one\n2026-11-30 11:00:00,1 INFO later\nRuntimeError: not of it\n"
    trace = read(text)
    assert [one.text for one in trace.raised] == ["ValueError: one"] and trace.end_line == 5


def test_the_next_traceback_is_another_block() -> None:
    assert [one.text for one in read(2 * (HEAD + frame("/a.py") + "ValueError: one\n")).raised] == ["ValueError: one"]


def test_groups_of_exceptions_are_read_through_their_margin() -> None:
    text = (
        "Traceback (most recent call last):\n"
        + frame("/a.py")
        + "ExceptionGroup: two (2 sub-exceptions)\n"
        + '    | File "/b.py", line 3, in g\n    | ValueError: inner\n'
    )
    assert read(text).raised[0].type == "ExceptionGroup"


def test_an_exception_with_a_name_of_no_usual_form() -> None:
    assert read(HEAD + frame("/a.py") + "my.pkg.Boom: it\n").root.type == "my.pkg.Boom"
    assert read(HEAD + frame("/a.py") + "KeyboardInterrupt\n").root.text == "KeyboardInterrupt"


def test_a_block_without_an_exception_is_none() -> None:
    assert parse((HEAD + frame("/a.py")).encode(), 1) is None
    assert parse(b"", 1) is None


@pytest.mark.parametrize(
    ("files", "user"),
    [
        ((f"{SITE}/verl/trainer/ppo/reward.py", "/data/reward.py"), "/data/reward.py"),
        ((f"{SITE}/verl/trainer/x.py", "/data/reward.py", f"{SITE}/requests/api.py"), "/data/reward.py"),
        ((f"{SITE}/verl/trainer/x.py", "/data/reward.py", "/usr/lib/python3.11/json/decoder.py"), "/data/reward.py"),
        (("/root/verl/reward.py",), "/root/verl/reward.py"),
        ((f"{SENT}/my_reward.py",), f"{SENT}/my_reward.py"),
        ((f"{SENT}/verl/workers/x.py",), None),
        ((f"{SITE}/verl/trainer/x.py", f"{SITE}/torch/nn/x.py"), None),
        (("/home/me/main.py", f"{SITE}/verl/trainer/x.py"), None),
        (("/workspace/verl/verl/workers/engine.py",), None),
        (("/vllm-workspace/vllm-ascend/vllm_ascend/worker.py",), None),
        (("<frozen runpy>", "<string>"), None),
        ((f"{SITE}/verl/workers/x.py", "zmq/backend/cython/_zmq.py"), None),
        ((f"{SITE}/verl/workers/x.py", "pyarrow/error.pxi"), None),
        ((f"{SITE}/ray/x.py", "pydantic/main.py"), None),
        (("verl/trainer/main_ppo.py", "verl/workers/x.py"), None),
        (("verl/workers/x.py", "rewards/mine.py"), "rewards/mine.py"),
        ((f"{SITE}/verl/workers/x.py", "python/ray/_raylet.pyx"), None),
    ],
)
def test_whose_code_it_was(files: tuple[str, ...], user: str | None) -> None:
    found = user_frame([Frame(file, 1, "f") for file in files])
    assert (found.file if found else None) == user


@given(
    st.lists(
        st.sampled_from(
            [
                HEAD.strip(),
                '  File "/a.py", line 1, in f',
                "ValueError: x",
                "ray::A.b() (pid=1, ip=1.2.3.4)",
                "",
                "    code",
                "The above exception was the direct cause of the following exception:",
                "\tip: 1.2.3.4",
                "free text",
                "ray.exceptions.RayTaskError(E): ray::A.b() (pid=1, ip=1.2.3.4)",
            ]
        ),
        max_size=30,
    )
)
def test_no_order_of_lines_raises(lines: list[str]) -> None:
    trace = parse("\n".join([HEAD.strip(), *lines]).encode(), 10)
    assert trace is None or (10 <= trace.line <= trace.root.line <= trace.end_line <= 10 + len(lines))
