"""Texts of the gang: id -> (English, Chinese). `gang.reason.<reason>`: why an attempt ended (gang/record.py)."""

TEXTS: dict[str, tuple[str, str]] = {
    "gang.reason.succeeded": ("training finished", "训练完成"),
    "gang.reason.trainer_failed": (
        "the trainer failed with exit code {code}: its own message is in the log above; correct it and submit again",
        "训练器失败，退出码 {code}：具体信息见上方日志；修正后重新提交",
    ),
    "gang.reason.not_placed": (
        "the gang could not be placed in time: the node table says what each node lacks; free these nodes, "
        "ask for fewer, or raise cluster.place_wait_s",
        "未能在限定时间内获得所需节点：节点表列出了每个节点缺少的资源；"
        "请释放节点、减少节点数或增大 cluster.place_wait_s",
    ),
    "gang.reason.flags_missing": (
        "a flag of the job did not arrive on node {node}: look at how Ray was started there, since a variable that is "
        "exported before `ray start` can win",
        "作业的环境变量未到达节点 {node}：请检查该节点启动 Ray 的方式，`ray start` 之前导出的变量可能优先",
    ),
    "gang.reason.secret_missing": (
        "a secret cannot be read on node {node}: put the file or the variable there",
        "节点 {node} 无法读取密钥：请在该节点上放置相应文件或变量",
    ),
    "gang.reason.node_unfit": (
        "node {node} was found unfit for the job: the end record in the log says why; repair it or leave it out",
        "节点 {node} 无法运行该作业：原因见日志中的结束记录；请修复或排除该节点",
    ),
    "gang.reason.fence_failed": (
        "something of an earlier attempt is still on node {node} and cannot be ended: the end record names the "
        "processes; end them there, or restart the node",
        "节点 {node} 上仍有更早一次尝试留下的进程且无法结束：进程见结束记录；请在该节点上结束它们，或重启该节点",
    ),
    "gang.reason.node_frozen": (
        "node {node} did not answer for 10 s and was given up: look at its kernel log and devices, restart Ray "
        "on it, or leave it out",
        "节点 {node} 超过 10 秒无响应，已放弃：请检查其内核日志与设备，重启该节点的 Ray 或排除该节点",
    ),
    "gang.reason.node_lost": (
        "node {node} was lost: its Ray processes are gone; restart Ray on it, or leave it out",
        "节点 {node} 丢失：其 Ray 进程已消失；请重启该节点的 Ray 或排除该节点",
    ),
    "gang.reason.no_checkpoint": (
        "earlier attempts have trained, and there is no complete checkpoint to go on from: the end record names the "
        "folder and what is there; correct it, or set recovery.from_start: true to train again from step 0",
        "之前的尝试已训练过，但没有完整的检查点可以继续：目录及其内容见日志中的结束记录；"
        "请修正，或设置 recovery.from_start: true 从第 0 步重新训练",
    ),
    "gang.reason.hung": (
        "no new step came within the limit, and the attempt was ended: the log says what the trainer's processes were "
        "doing on each node",
        "在限定时间内没有新的训练步，已结束该次尝试：日志中列出了每个节点上训练进程当时在做什么",
    ),
    "gang.reason.launch_failed": (
        "the trainer could not be started: the end record in the log says why",
        "训练器无法启动：原因见日志中的结束记录",
    ),
    "gang.reason.driver_error": (
        "npurun's driver failed: a bug, please report it with the log",
        "npurun 的 driver 出错：这是 npurun 的缺陷，请附上日志报告",
    ),
    "gang.reason.stopped": ("stopped as asked", "已按要求停止"),
}
