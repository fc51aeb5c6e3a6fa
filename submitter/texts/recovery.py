"""Texts of the commands that go on with runs: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "resume.unknown": (
        "the ledger here has no run {run}: `npurun list` shows those it has; a run is resumed where it was submitted",
        "本机记录中没有运行 {run}：用 `npurun list` 查看已有的运行；只能在提交它的机器上恢复",
    ),
    "resume.succeeded": (
        "run {run} has trained all its steps: submit the job again, with more of them, under another name",
        "运行 {run} 已完成全部步数：如需更多步数，请换一个名字重新提交",
    ),
    "resume.stopping": (
        "run {run} is just being stopped ({submission}): `npurun stop {run}` waits for that, resume it then",
        "运行 {run} 正在停止（{submission}）：先用 `npurun stop {run}` 等它停下，再恢复",
    ),
    "resume.packages_gone": (
        "what run {run} was submitted with is gone from the home ({package}): submit the job anew with "
        "trainer.resume_mode=resume_path and its newest checkpoint",
        "运行 {run} 提交时的程序包已不在本机（{package}）：请重新提交作业，"
        "并用 trainer.resume_mode=resume_path 指定最新检查点",
    ),
    "stop.left_to_supervisor": (
        "run {run} is still {state} after {seconds} s: no further attempt will start, and the supervisor goes on "
        "stopping it; `npurun status {run}` tells when it has ended",
        "运行 {run} 在 {seconds} 秒后仍为 {state}：不会再开始新的尝试，supervisor 会继续停止它；"
        "用 `npurun status {run}` 查看",
    ),
    "diff.name": (
        "{value} names no attempt: write RUN for its newest one, or RUN/a2",
        "{value} 不是一次尝试的名字：写 RUN 表示最近一次，或写 RUN/a2",
    ),
    "diff.no_attempt": (
        "run {run} has no attempt {attempt}; its newest is {newest}",
        "运行 {run} 没有第 {attempt} 次尝试；最近一次是第 {newest} 次",
    ),
    "diff.same": ("{left} and {right} do not differ", "{left} 与 {right} 没有差别"),
    "diff.not_known.arguments": (
        "arguments are not compared: those of {submission} are gone from this machine",
        "没有比较参数：{submission} 的参数已不在本机",
    ),
    "diff.not_known.cluster": (
        "nor is what it asked of the cluster: {submission}",
        "也没有比较对集群的要求：{submission}",
    ),
    "diff.not_known.versions": (
        "versions are not compared: those of {submission} are not known (none were measured, or it has not ended)",
        "没有比较版本：{submission} 的版本未知（没有测量，或尚未结束）",
    ),
    "diff.not_known.nodes": (
        "nodes are not compared: those of {submission} are not known (it had none, or has not ended)",
        "没有比较节点：{submission} 的节点未知（没有得到节点，或尚未结束）",
    ),
}
