"""Texts of the supervisor and of what it does with a run: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "supervise.posted": ("{submission} is submitted to {address}", "{submission} 已提交到 {address}"),
    "supervise.adopted": (
        "{submission} was on the cluster already: it is watched from here on",
        "{submission} 已在集群上：从现在起由 supervisor 负责",
    ),
    "supervise.refused": (
        "the cluster does not take {submission}: {error}",
        "集群不接受 {submission}：{error}",
    ),
    "supervise.ended": (
        "{submission} ended: {reason} (node {node}, last step {step}). What it means: npurun explain {reason}",
        "{submission} 已结束：{reason}（节点 {node}，最后一步 {step}）。含义：npurun explain {reason}",
    ),
    "supervise.proof": ("what shows it: {text}  ({file}, line {line})", "依据：{text}（{file} 第 {line} 行）"),
    "supervise.stopping": (
        "{submission} is asked to stop, as its user wants (last step {step})",
        "按用户要求停止 {submission}（最后一步 {step}）",
    ),
    "supervise.hung": (
        "{submission} has neither logged a line nor made a step for {minutes} min, and its own watch does not end it: "
        "it is stopped (last step {step})",
        "{submission} 已 {minutes} 分钟没有新日志也没有新的一步，且自身的监视没有结束它：现在停止它（最后一步 {step}）",
    ),
    "supervise.recovered": (
        "run {run} has recovered: {submission} made step {step}, further than any attempt before it",
        "运行 {run} 已恢复：{submission} 完成第 {step} 步，超过此前所有尝试",
    ),
    "supervise.run_succeeded": (
        "run {run} is done: attempt {attempts} succeeded (last step {step})",
        "运行 {run} 已完成：第 {attempts} 次尝试成功（最后一步 {step}）",
    ),
    "supervise.run_failed": (
        "run {run} has failed after {attempts} attempts: {reason} (last step {step}). What helps: npurun explain "
        "{reason}; then: npurun resume {run}",
        "运行 {run} 在 {attempts} 次尝试后失败：{reason}（最后一步 {step}）。如何处理：npurun explain {reason}；"
        "之后：npurun resume {run}",
    ),
    "supervise.run_stopped": (
        "run {run} is stopped, attempt {attempts} was the last (last step {step}). Go on: npurun resume {run}",
        "运行 {run} 已停止，最后是第 {attempts} 次尝试（最后一步 {step}）。继续：npurun resume {run}",
    ),
    "supervise.away": (
        "no answer from {address} for {seconds} s; this ends no run, and it is asked again: {error}",
        "{address} 已 {seconds} 秒无应答；这不会结束任何运行，会继续重试：{error}",
    ),
    "supervise.back": ("{address} answers again after {seconds} s", "{address} 在 {seconds} 秒后恢复应答"),
    "supervise.no_token": (
        "{address} wants a token, and the supervisor has none: a RAY_AUTH_TOKEN of your shell did not reach it. Put "
        "the token into ~/.ray/auth_token, which it reads every minute. The run is not ended by this ({error})",
        "{address} 需要 token，而 supervisor 没有：shell 中的 RAY_AUTH_TOKEN 没有传给它。请把 token 写入 "
        "~/.ray/auth_token，它每分钟读取一次。运行不会因此结束（{error}）",
    ),
    "supervise.wrong_token": (
        "{address} refuses the supervisor's token; put the right one where the old one was, it is read again every "
        "minute. A RAY_AUTH_TOKEN in its environment stays: end the supervisor (npurun status shows where it runs), "
        "the next command starts it anew. The run is not ended by this ({error})",
        "{address} 拒绝 supervisor 的 token；请在原处换上正确的 token，它每分钟重新读取。若 token 来自其环境中的 "
        "RAY_AUTH_TOKEN，请结束 supervisor，下一条命令会重新启动它。运行不会因此结束（{error}）",
    ),
    "supervise.no_credentials": (
        "the supervisor cannot read what it has to show to {address}: {error}. It tries again every minute; the run is "
        "not ended by this",
        "supervisor 无法读取访问 {address} 所需的凭据：{error}。它每分钟重试；运行不会因此结束",
    ),
    "supervise.package_gone": (
        "package {package} of run {run} is neither on the cluster nor in the home any more: submit the job anew",
        "运行 {run} 的包 {package} 在集群和本机都已不存在：请重新提交作业",
    ),
    "supervise.serving": (
        "supervisor {pid} serves {home}; it ends no run when it leaves",
        "supervisor {pid} 正在服务 {home}；它退出时不会结束任何运行",
    ),
    "supervise.left.idle": ("no run is active: the supervisor leaves", "没有活动的运行：supervisor 退出"),
    "supervise.left.told": (
        "the supervisor leaves as told; the runs go on, and are cared for again with the next npurun command or npurun "
        "serve",
        "supervisor 按要求退出；运行继续，下一条 npurun 命令或 npurun serve 会重新接管",
    ),
    "supervise.left.home_gone": (
        "the folder of the ledger is gone: the supervisor leaves",
        "记录目录已不存在：supervisor 退出",
    ),
    "supervise.left.lock_lost": (
        "another supervisor has taken over: this one leaves",
        "另一个 supervisor 已接管：本进程退出",
    ),
    "supervise.taken_over": (
        "this supervisor was silent for too long, and another one serves the ledger now",
        "本 supervisor 沉默过久，记录已由另一个 supervisor 服务",
    ),
    "supervise.lock_lost": ("nothing more is written: {error}", "不再写入：{error}"),
    "supervise.trouble": (
        "run {run}: {error}; tried again in {seconds} s",
        "运行 {run}：{error}；{seconds} 秒后重试",
    ),
    "supervise.caught_up": (
        "the log of {submission} was read once more from its beginning: {steps} steps in all",
        "已从头重新读取 {submission} 的日志：共 {steps} 步",
    ),
    "supervise.not_caught_up": (
        "steps of {submission} that were logged while nobody looked are missing: {error}",
        "{submission} 在无人查看期间记录的部分步骤缺失：{error}",
    ),
    "supervise.standing_by": (
        "process {pid} on {host} cares for the runs; this one takes over when it leaves",
        "{host} 上的进程 {pid} 正在负责各运行；它退出后由本进程接管",
    ),
    "supervise.alert": ("run {run}: {alert}: {what}", "运行 {run}：{alert}：{what}"),
    "supervise.poll_max": (
        "{value} is no number of seconds between 0 and 3600",
        "{value} 不是 0 到 3600 之间的秒数",
    ),
    "supervise.starting": (
        "waiting for the supervisor (process {pid}, log {log}): {seconds} s",
        "正在等待 supervisor 启动（进程 {pid}，日志 {log}）：{seconds} 秒",
    ),
    "supervise.not_started": (
        "the supervisor did not start within {seconds} s ({reason}; log {log}): the run is submitted, but nobody goes "
        "on with it after a failure. Start it with: npurun serve",
        "supervisor 未能在 {seconds} 秒内启动（{reason}；日志 {log}）：运行已提交，但失败后无人接续。"
        "请启动：npurun serve",
    ),
    "supervise.exited": ("exit code {code}", "退出码 {code}"),
    "supervise.no_lock": ("it runs, and does not serve yet", "进程已运行，但尚未开始服务"),
    "supervise.no_care": (
        "the run goes on, but for now nobody follows up on a failure: {error}",
        "运行仍在继续，但目前失败后无人接续：{error}",
    ),
    "supervise.no_notifier": ("nobody is notified: {error}", "不会发送通知：{error}"),
    "supervise.restarted": (
        "the supervisor had ended and is started again",
        "supervisor 已退出，现已重新启动",
    ),
}
