"""Texts of decisions, why a run goes on or ends: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "decide.succeeded": ("the run has succeeded with attempt {attempt}", "运行在第 {attempt} 次尝试中成功完成"),
    "decide.user_stop": (
        "attempt {attempt} was stopped by hand: no further one",
        "第 {attempt} 次尝试被手动停止：不再重试",
    ),
    "decide.never": (
        "attempt {attempt} ended with {reason}, which is never retried",
        "第 {attempt} 次尝试以 {reason} 结束，这类原因从不重试",
    ),
    "decide.after_change": (
        "attempt {attempt} ended with {reason}: the same job would fail again before it is changed (npurun explain "
        "{reason})",
        "第 {attempt} 次尝试以 {reason} 结束：不修改作业还会同样失败（npurun explain {reason}）",
    ),
    "decide.change_spent": (
        "attempt {attempt} ended with {reason}, though {change} was set: no further change is allowed for it "
        "(recovery.on_reason)",
        "已设置 {change}，第 {attempt} 次尝试仍以 {reason} 结束：recovery.on_reason 没有允许其他修改",
    ),
    "decide.no_checkpoint": (
        "step {step} was reached, but attempt {attempt} found no complete checkpoint: recovery.from_start: true lets "
        "the run train again from step 0",
        "已训练到第 {step} 步，但第 {attempt} 次尝试没有找到完整的检查点："
        "设置 recovery.from_start: true 才会从第 0 步重新训练",
    ),
    "decide.from_start": (
        "step {step} was reached, and with recovery.resume: false attempt {next} would train again from step 0: "
        "recovery.from_start: true allows that",
        "已训练到第 {step} 步，而 recovery.resume 为 false，第 {next} 次尝试会从第 0 步重新训练："
        "设置 recovery.from_start: true 才允许",
    ),
    "decide.same_reason": (
        "attempts {before} and {attempt} both ended with {reason}, and neither came beyond step {step}",
        "第 {before} 次和第 {attempt} 次尝试都以 {reason} 结束，且都没有超过第 {step} 步",
    ),
    "decide.reason_limit": (
        "{count} attempts ended with {reason}, and recovery.on_reason allows {limit} retries for it",
        "已有 {count} 次尝试以 {reason} 结束，而 recovery.on_reason 只允许为此重试 {limit} 次",
    ),
    "decide.max_attempts": (
        "all {max_attempts} attempts are used (recovery.max_attempts); the last one ended with {reason}",
        "{max_attempts} 次尝试已用完（recovery.max_attempts）；最后一次以 {reason} 结束",
    ),
    "decide.never_started": (
        "the cluster lost {count} attempts before they began",
        "集群在 {count} 次尝试开始之前就丢失了它们",
    ),
    "decide.max_hours": (
        "the first attempt began {hours} h ago, and attempt {next} would begin after the {max_hours} h of "
        "recovery.max_hours; attempt {attempt} ended with {reason}",
        "第一次尝试始于 {hours} 小时前，第 {next} 次尝试将超出 recovery.max_hours 的 {max_hours} 小时；"
        "第 {attempt} 次尝试以 {reason} 结束",
    ),
    "decide.now": (
        "attempt {attempt} ended with {reason}: attempt {next} follows at once",
        "第 {attempt} 次尝试以 {reason} 结束：立即开始第 {next} 次尝试",
    ),
    "decide.backoff": (
        "attempt {attempt} ended with {reason}: attempt {next} follows in {wait_s} s",
        "第 {attempt} 次尝试以 {reason} 结束：{wait_s} 秒后开始第 {next} 次尝试",
    ),
    "decide.unknown": (
        "attempt {attempt} ended and its cause is not known ({reason}): attempt {next} follows in {wait_s} s",
        "第 {attempt} 次尝试结束，原因不明（{reason}）：{wait_s} 秒后开始第 {next} 次尝试",
    ),
    "decide.exclude_node": (
        "attempt {attempt} ended with {reason} on node {node}: attempt {next} follows at once without it",
        "第 {attempt} 次尝试因节点 {node} 上的 {reason} 结束：立即开始第 {next} 次尝试，不再使用该节点",
    ),
    "decide.node_unknown": (
        "attempt {attempt} ended with {reason}, and no node is known to be at fault: attempt {next} follows in "
        "{wait_s} s",
        "第 {attempt} 次尝试以 {reason} 结束，但不清楚是哪个节点的问题：{wait_s} 秒后开始第 {next} 次尝试",
    ),
    "decide.with_change": (
        "attempt {attempt} ended with {reason}: attempt {next} follows at once with {change}",
        "第 {attempt} 次尝试以 {reason} 结束：立即开始第 {next} 次尝试，并设置 {change}",
    ),
    "decide.with_change_later": (
        "attempt {attempt} ended with {reason}: attempt {next} follows in {wait_s} s with {change}",
        "第 {attempt} 次尝试以 {reason} 结束：{wait_s} 秒后开始第 {next} 次尝试，并设置 {change}",
    ),
    "decide.starts_over": (
        "attempt {attempt} found no complete checkpoint: attempt {next} trains again from step 0, as "
        "recovery.from_start allows",
        "第 {attempt} 次尝试没有找到完整的检查点：按 recovery.from_start，第 {next} 次尝试从第 0 步重新训练",
    ),
    "decide.cluster_lost": (
        "the cluster has lost attempt {attempt}: attempt {next} follows in {wait_s} s",
        "集群丢失了第 {attempt} 次尝试：{wait_s} 秒后开始第 {next} 次尝试",
    ),
    "decide.not_placed": (
        "attempt {attempt} did not get its nodes: attempt {next} follows in {wait_s} s",
        "第 {attempt} 次尝试没有得到所需的节点：{wait_s} 秒后开始第 {next} 次尝试",
    ),
}
