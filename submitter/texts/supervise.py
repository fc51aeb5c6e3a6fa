"""Texts of runs: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "nodes.left_out": (
        "node {node} is left out: {finding} in {attempt} (npurun nodes release {node} takes it back)",
        "节点 {node} 已排除：{attempt} 中发现 {finding}（使用 npurun nodes release {node} 可恢复）",
    ),
    "run.unknown": (
        "there is no run {run}, neither in the ledger here nor on {address}; the nearest name is {nearest}",
        "找不到运行 {run}：本机记录和 {address} 上都没有；最接近的名字是 {nearest}",
    ),
    "run.unknown.far": (
        "there is no run {run}, neither in the ledger here nor on {address}",
        "找不到运行 {run}：本机记录和 {address} 上都没有",
    ),
    "run.not_on_cluster": (
        "run {run} is in the ledger but {address} does not know it: it was never submitted, or the cluster was "
        "restarted",
        "运行 {run} 在本机记录中，但 {address} 上没有：它从未提交成功，或集群已重启",
    ),
    "submit.uploading": ("uploading {package} ({size})", "正在上传 {package}（{size}）"),
    "submit.looking": (
        "not clear whether {run} was taken ({error}): asking the cluster",
        "无法确定 {run} 是否已被接受（{error}）：正在向集群查询",
    ),
    "submit.in_doubt": (
        "not known whether {address} took run {run} ({error}): `npurun status {run}` tells later, and submitting again "
        "with --run {run} never starts it twice",
        "无法确定 {address} 是否接受了运行 {run}（{error}）：稍后用 `npurun status {run}` 查看；"
        "用 --run {run} 再次提交也不会重复启动",
    ),
    "submit.other_spec": (
        "run {run} exists and does something else (spec {there}, this one is {here}): choose another name for --run",
        "运行 {run} 已存在且内容不同（已有 {there}，本次 {here}）：请用 --run 换一个名字",
    ),
    "submit.run_ended": (
        "run {run} has ended ({state}): the name of an ended run is not used again, choose another for --run",
        "运行 {run} 已结束（{state}）：已结束的名字不能再用，请用 --run 换一个名字",
    ),
    "submit.run_elsewhere": (
        "run {run} was submitted to {there}, not to {here}: give that --address, or another name for --run",
        "运行 {run} 提交在 {there}，不是 {here}：请使用该 --address，或用 --run 换一个名字",
    ),
    "submit.run_forgotten": (
        "run {run} was on {address}, which no longer knows it (was Ray restarted?): choose another name for --run",
        "运行 {run} 曾在 {address} 上，但集群已没有它的记录（Ray 重启过？）：请用 --run 换一个名字",
    ),
    "follow.pending": (
        "{submission} is still pending after {seconds} s: {message}",
        "{submission} 等待启动已 {seconds} 秒：{message}",
    ),
    "follow.orphan": (
        "{submission} is pending for {seconds} s, longer than Ray's own limit: Ray has probably lost it and can "
        "neither start nor stop it; submit again. Ray says: {message}",
        "{submission} 等待启动已 {seconds} 秒，超过 Ray 自身的限制：Ray 很可能已丢失它，既不能启动也不能停止；"
        "请重新提交。Ray 的说明：{message}",
    ),
    "follow.away": (
        "no answer from the cluster for {seconds} s; this does not affect the run (last seen: {state}), and npurun "
        "keeps trying: {error}",
        "集群已 {seconds} 秒无法访问；运行（最后状态：{state}）不受影响；npurun 会继续重试：{error}",
    ),
    "follow.back": (
        "{address} answers again after {seconds} s",
        "{address} 在 {seconds} 秒后恢复应答",
    ),
    "follow.forgotten": (
        "{address} no longer knows {submission}: Ray was restarted and has lost its jobs; whether the run ended well "
        "is not known",
        "{address} 上已没有 {submission}：Ray 已重启并丢失作业记录；运行结果未知",
    ),
    "follow.gave_up": (
        "the cluster could not be reached for {hours} hours: {submission} is no longer followed, its outcome is not "
        "known ({error})",
        "集群已 {hours} 小时无法访问：停止跟踪 {submission}，结果未知（{error}）",
    ),
    "follow.interrupted": (
        "no longer following; the run goes on. Follow: npurun logs {run} -f    Stop: npurun stop {run}",
        "已停止跟踪，运行仍在继续。继续跟踪：npurun logs {run} -f    停止：npurun stop {run}",
    ),
    "follow.succeeded": ("{submission} succeeded", "{submission} 成功"),
    "follow.stopped": ("{submission} was stopped", "{submission} 已被停止"),
    "follow.failed": (
        "{submission} failed: {reason} (phase {phase}, node {node}, trainer's exit code {code})",
        "{submission} 失败：{reason}（阶段 {phase}，节点 {node}，训练器退出码 {code}）",
    ),
    "follow.killed": (
        "{submission} failed: {reason} (phase {phase}, node {node}, trainer killed by {signal} ({code}))",
        "{submission} 失败：{reason}（阶段 {phase}，节点 {node}，训练器被信号 {signal} 终止（{code}））",
    ),
    "follow.failed_by_ray": (
        "{submission} failed, and its driver left no end record: {reason}: {message}",
        "{submission} 失败，driver 没有留下结束记录：{reason}：{message}",
    ),
    "follow.evidence": ("the driver says: {said}", "driver 的说明：{said}"),
    "list.away": (
        "the state of the runs there is not known: {error}",
        "无法得知该集群上各运行的状态：{error}",
    ),
    "stop.ended_before": ("run {run} had ended already: {state}", "运行 {run} 此前已结束：{state}"),
    "stop.ended": ("run {run} has ended: {state}", "运行 {run} 已结束：{state}"),
    "stop.pending": (
        "run {run} is pending, and Ray cannot stop a pending job: waiting until it starts, {seconds} s at most",
        "运行 {run} 处于等待状态，Ray 无法停止等待中的作业：等它启动后再停止，至多 {seconds} 秒",
    ),
    "stop.waiting": (
        "run {run} is {state}; waited {seconds} s for its end",
        "运行 {run} 状态为 {state}，已等待其结束 {seconds} 秒",
    ),
    "stop.away": (
        "no answer from the cluster for {seconds} s while run {run} is being stopped: {error}",
        "正在停止运行 {run}，但集群已 {seconds} 秒无法访问：{error}",
    ),
    "stop.not_in_time": (
        "run {run} did not stop within {seconds} s: look at it in Ray's dashboard, and try again",
        "运行 {run} 未能在 {seconds} 秒内停止：请在 Ray dashboard 中查看，然后重试",
    ),
}
