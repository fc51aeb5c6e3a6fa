"""Texts of `npurun doctor` and `npurun nodes`: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "cli.doctor.short": ("Look at every node of the cluster", "检查集群的每个节点"),
    "cli.doctor.help": (
        "Look at every node of the cluster at once, by the probes that each attempt begins with: devices, versions, "
        "network, host; with JOB also its model, data, folders and modules. Starts no training and takes no NPU. / "
        "What is equal on all nodes is said once; the odd one out is marked with *; - is not measured. / "
        "Exit code 3 when a node has an error, 0 also with warnings.",
        "用每次尝试开始时的同一组探测项，同时检查集群的所有节点：设备、版本、网络、主机；"
        "给出 JOB 时还检查其模型、数据、目录和模块。不启动训练，不占用 NPU。 / "
        "各节点相同的内容只显示一次；异常的节点用 * 标出；- 表示未测量。 / 有节点出错时退出码为 3，只有警告时为 0。",
    ),
    "cli.doctor.not_measured": ("{why} ({count} of {all} nodes)", "{why}（{all} 个节点中的 {count} 个）"),
    "cli.doctor.not_measured_alone": ("{why}", "{why}"),
    "cli.doctor.not_measured_on": (
        "{why} ({count} of {all} nodes: {nodes})",
        "{why}（{all} 个节点中的 {count} 个：{nodes}）",
    ),
    "doctor.why.no_npu_smi": (
        "no npu-smi on the PATH of this node's Ray",
        "该节点 Ray 的 PATH 中没有 npu-smi",
    ),
    "doctor.why.npu_smi_slow": (
        "npu-smi did not answer within {seconds} s",
        "npu-smi 在 {seconds} 秒内没有返回",
    ),
    "doctor.why.npu_smi_failed": ("npu-smi failed ({code}): {said}", "npu-smi 失败（{code}）：{said}"),
    "doctor.why.npu_smi_unknown": (
        "npu-smi printed no device table that is understood",
        "npu-smi 的输出中没有可识别的设备表",
    ),
    "doctor.why.no_device_files": (
        "no /dev/davinci* here: not an Ascend host, or a container without its devices",
        "没有 /dev/davinci*：不是昇腾主机，或容器没有挂载设备",
    ),
    "doctor.why.no_hccn": (
        "no {file}: the devices' addresses are not told here",
        "没有 {file}：无法得知设备地址",
    ),
    "doctor.why.no_address": ("{file} names no address of a device", "{file} 中没有设备地址"),
    "doctor.why.no_raylet": ("this worker has no raylet above it", "该 worker 的上级进程中没有 raylet"),
    "doctor.why.raylet_unreadable": (
        "the raylet's environment cannot be read: {reason}",
        "无法读取 raylet 的环境变量：{reason}",
    ),
    "doctor.why.no_meminfo": ("/proc/meminfo tells no MemTotal", "/proc/meminfo 中没有 MemTotal"),
    "doctor.why.slow": ("no result within {seconds} s", "{seconds} 秒内没有结果"),
    "doctor.why.silent": ("does not answer", "没有应答"),
    "doctor.why.not_asked": ("not asked", "未询问"),
    "doctor.why.unheld": (
        "torch_npu is loaded in a task that holds NPUs: each attempt does so, the doctor holds none",
        "torch_npu 只在占用 NPU 的任务中加载：每次尝试都会检查，doctor 不占用 NPU",
    ),
    "doctor.hints.NR504": ("{count} NPUs held by {holders} on {node}", "{node} 上 {count} 个 NPU 被 {holders} 占用"),
    "doctor.hints.NR505": (
        "{count} NPUs with more than {limit} in use, and no process shown, on {node}",
        "{node} 上 {count} 个 NPU 的显存占用超过 {limit}，且没有显示进程",
    ),
    "doctor.hints.held_fix": (
        "Nothing to do: another job holds them through Ray (`ray status`)",
        "无需处理：其他作业已通过 Ray 占用（`ray status`）",
    ),
    "doctor.hints.others": ("{first} (and {count} more of this kind)", "{first}（另有 {count} 条同类）"),
    "cli.doctor.more": (
        "… and {count} more; --json has all of them",
        "…… 另有 {count} 条；用 --json 查看全部",
    ),
    "cli.doctor.summary_one": (
        "1 node looked at in {seconds} s: {counts}",
        "已检查 1 个节点，用时 {seconds} 秒：{counts}",
    ),
    "cli.doctor.summary_one_silent": (
        "1 node looked at, {silent} silent, in {seconds} s: {counts}",
        "已检查 1 个节点，{silent} 个无应答，用时 {seconds} 秒：{counts}",
    ),
    "cli.doctor.summary": (
        "{answered} nodes looked at in {seconds} s: {counts}",
        "已检查 {answered} 个节点，用时 {seconds} 秒：{counts}",
    ),
    "cli.doctor.summary_silent": (
        "{answered} nodes looked at, {silent} silent, in {seconds} s: {counts}",
        "已检查 {answered} 个节点，{silent} 个无应答，用时 {seconds} 秒：{counts}",
    ),
    "doctor.set_alone": (
        "--set changes a job, and none is named: npurun doctor JOB --set NAME=VALUE",
        "--set 用于修改作业，但没有给出作业：npurun doctor JOB --set NAME=VALUE",
    ),
    "doctor.looking": (
        "looking at the nodes of {address} ({submission})",
        "正在检查 {address} 的节点（{submission}）",
    ),
    "doctor.starting": (
        "waiting for Ray to start the doctor on the head node: {seconds} of at most {bound} s. Ray says: {said}",
        "等待 Ray 在头节点启动检查程序：已 {seconds} 秒，至多 {bound} 秒。Ray 的说明：{said}",
    ),
    "doctor.waiting": (
        "waiting for the nodes' answers: {seconds} of at most {bound} s; who does not answer will be named. "
        "Last line: {said}",
        "等待各节点应答：已 {seconds} 秒，至多 {bound} 秒；未应答的节点会被列出。最后一行日志：{said}",
    ),
    "doctor.away": (
        "no answer from the cluster while {submission} looks at it, trying again: {error}",
        "{submission} 检查期间集群无法访问，正在重试：{error}",
    ),
    "doctor.lost": (
        "{address} did not answer for {submission} within {seconds} s: what it found is not known; it holds nothing "
        "and ends by itself",
        "{address} 在 {seconds} 秒内没有给出 {submission} 的状态：检查结果未知；它不占用资源，会自行结束",
    ),
    "doctor.not_started": (
        "Ray on {address} did not start {submission} within {seconds} s: look at the head node's load and at "
        "`ray status`. Ray says: {said}",
        "{address} 上的 Ray 在 {seconds} 秒内没有启动 {submission}："
        "请检查头节点负载和 `ray status`。Ray 的说明：{said}",
    ),
    "doctor.not_in_time": (
        "{submission} on {address} did not end within {seconds} s and was stopped: look at `ray status` and at the "
        "head node. Its last line: {said}",
        "{address} 上的 {submission} 未能在 {seconds} 秒内结束，已停止："
        "请检查 `ray status` 和头节点。最后一行日志：{said}",
    ),
    "doctor.failed": (
        "{submission} could not look at the nodes: {reason}: {said}",
        "{submission} 无法检查节点：{reason}：{said}",
    ),
    "doctor.interrupted": ("interrupted; {submission} was stopped", "已中断；{submission} 已停止"),
    "doctor.interrupted_going": (
        "interrupted; {submission} was asked to stop and has not ended yet; it holds nothing and ends by itself",
        "已中断；已要求 {submission} 停止，但它尚未结束；它不占用资源，会自行结束",
    ),
    "cli.place.node": ("node {node}", "节点 {node}"),
    "cli.node.node": ("node", "节点"),
    "cli.node.npus": ("NPU", "NPU"),
    "cli.node.ray_npus": ("Ray NPU", "Ray NPU"),
    "cli.node.busy": ("in use", "占用"),
    "cli.node.chip": ("chip", "芯片"),
    "cli.node.health": ("health", "健康"),
    "cli.node.hbm": ("HBM used", "已用显存"),
    "cli.node.driver": ("driver", "驱动"),
    "cli.node.cann": ("CANN", "CANN"),
    "cli.node.torch": ("torch", "torch"),
    "cli.node.torch_npu": ("torch_npu", "torch_npu"),
    "cli.node.vllm": ("vllm", "vllm"),
    "cli.node.vllm_ascend": ("vllm-ascend", "vllm-ascend"),
    "cli.node.verl": ("verl", "verl"),
    "cli.node.megatron_core": ("megatron-core", "megatron-core"),
    "cli.node.mindspeed": ("MindSpeed", "MindSpeed"),
    "cli.node.transformers": ("transformers", "transformers"),
    "cli.node.ray": ("Ray", "Ray"),
    "cli.node.python": ("Python", "Python"),
    "cli.node.memory": ("free RAM", "可用内存"),
    "cli.node.shm": ("shm", "shm"),
    "cli.node.tmp": ("/tmp", "/tmp"),
    "cli.node.clock": ("clock", "时钟"),
    "cli.node.interface": ("interface", "网卡"),
    "cli.node.mtu": ("MTU", "MTU"),
    "cli.node.rtt": ("rtt", "往返时延"),
    "cli.node.cpus": ("CPU", "CPU"),
    "cli.node.files": ("open files", "打开文件数"),
    "cli.node.model": ("model", "模型"),
    "cli.node.data": ("data", "数据"),
    "cli.node.modules": ("modules", "模块"),
    "cli.node.write": ("disk", "磁盘"),
    "cli.node.absent": ("absent", "未安装"),
    "cli.node.yes": ("yes", "是"),
    "cli.node.no": ("no", "否"),
    "cli.node.incomplete": ("incomplete", "不完整"),
    "cli.node.unlimited": ("unlimited", "不限"),
    "cli.node.everyone": ("{count} nodes: {nodes}", "{count} 个节点：{nodes}"),
    "cli.node.equal": ("equal on all nodes", "各节点相同"),
    "cli.node.equal_answering": ("equal on all nodes that answer", "有应答的各节点相同"),
    "cli.node.colon": (": ", "："),
    "cli.node.nowhere": ("installed on no node", "各节点均未安装"),
    "cli.nodes.short": ("Nodes that are kept out of new attempts", "列出被隔离的节点"),
    "cli.nodes.help": (
        "List the nodes that attempts found unfit and that new attempts leave out until the time shown, each with what "
        "was found. `npurun nodes release NODE` takes one back earlier; what is still wrong with it is found again.",
        "列出被判定不可用、在所示时间之前新的尝试会排除的节点，及其原因。"
        "`npurun nodes release NODE` 可提前恢复一个节点；若问题仍在，会再次被发现。",
    ),
    "cli.release.short": ("Take a node back", "恢复一个节点"),
    "cli.release.help": (
        "Take NODE (its IP, as `npurun nodes` shows it) back: new attempts may use it again at once.",
        "恢复 NODE（IP，见 `npurun nodes`）：新的尝试立即可以再次使用它。",
    ),
    "cli.argument.node": ("The node's IP", "节点 IP"),
    "cli.no_nodes": ("no node is left out", "没有被隔离的节点"),
    "cli.next.release": ("take one back: npurun nodes release NODE", "恢复节点：npurun nodes release NODE"),
    "cli.released.one": (
        "{node} of {address} is taken back: new attempts may use it",
        "{address} 的 {node} 已恢复：新的尝试可以使用它",
    ),
    "cli.released.many": (
        "{node} of {address} is taken back ({count} entries ended): new attempts may use it",
        "{address} 的 {node} 已恢复（结束 {count} 条记录）：新的尝试可以使用它",
    ),
    "cli.column.node": ("node", "节点"),
    "cli.column.left_out": ("left out", "已排除"),
    "cli.column.finding": ("finding", "发现"),
    "cli.column.since": ("since", "起始"),
    "cli.column.until": ("until", "截止"),
    "cli.column.why": ("why", "原因"),
    "nodes.why": ("{why}", "{why}"),
    "nodes.quarantined": (
        "in quarantine when the attempt was submitted: npurun nodes",
        "提交该次尝试时已被隔离：npurun nodes",
    ),
    "nodes.unknown_finding": (
        "found to have {finding}, which this npurun has no words for",
        "发现 {finding}，当前版本没有对应的说明",
    ),
    "nodes.none": (
        "{node} is not left out; the nearest node that is: {nearest}",
        "{node} 没有被隔离；最接近的被隔离节点是 {nearest}",
    ),
    "nodes.none_near": (
        "{node} is not left out (`npurun nodes` lists those that are)",
        "{node} 没有被隔离（被隔离的节点见 `npurun nodes`）",
    ),
    "nodes.unfit": ("{finding}: {why}. {fix}", "{finding}：{why}。{fix}"),
    "nodes.unfit_more": (
        "… and {count} more findings; the end record in the log has all of them",
        "…… 另有 {count} 条；全部见日志中的结束记录",
    ),
    "nodes.none_at_all": ("{node} is not left out, and no other node is", "{node} 没有被隔离，也没有其他被隔离的节点"),
    "nodes.away": (
        "attempts that ended there since are not known yet: {error}",
        "该集群上之后结束的尝试暂时无法得知：{error}",
    ),
    "nodes.not_kept": (
        "what the attempt found about nodes could not be written down: {error}",
        "该次尝试对节点的判断未能写入记录：{error}",
    ),
}
