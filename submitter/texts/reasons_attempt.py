"""Texts of the reasons that are the attempt's, Ray's, the cluster's and its processes': id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "reason.succeeded": ("training finished", "训练完成"),
    "reason.succeeded.means": (
        "The trainer ended by itself with exit code 0 after its last step.",
        "训练器完成最后一步后以退出码 0 自行结束。",
    ),
    "reason.succeeded.fix": ("Nothing to do", "无需处理"),
    "reason.stopped": ("stopped as asked", "已按要求停止"),
    "reason.stopped.means": (
        "Somebody stopped the attempt, with npurun, `ray job stop` or a signal to its driver. It did not fail.",
        "有人用 npurun、`ray job stop` 或向 driver 发送信号停止了该次尝试。它没有失败。",
    ),
    "reason.stopped.fix": (
        "`npurun resume RUN` goes on from the newest complete checkpoint",
        "用 `npurun resume RUN` 从最新的完整检查点继续",
    ),
    "reason.still_running": ("nothing ended it: the log simply stops", "没有结束的迹象：日志只是到此为止"),
    "reason.still_running.means": (
        "The log holds no error and no end: the attempt still ran when the log was taken, or it waits without a word.",
        "日志中没有错误也没有结束标记：取日志时仍在运行，或在无声地等待。",
    ),
    "reason.still_running.fix": (
        "If no step follows, look at the placement groups (`ray status`) and at the stacks of the workers (`py-spy "
        "dump`)",
        "如果一直没有新的步，请查看 placement group（`ray status`）和 worker 的调用栈（`py-spy dump`）",
    ),
    "reason.unknown": ("the cause is not known", "原因未知"),
    "reason.unknown.means": (
        "No line of the logs is known to name a cause of a failure. The candidates are the likeliest lines.",
        "日志中没有任何一行是已知能说明失败原因的。候选项是最可能的几行。",
    ),
    "reason.unknown.fix": (
        "Read the candidates and the first error in the log; the logs of the workers and the plog files on the nodes "
        "may say more",
        "请查看候选项和日志中的第一个错误；各节点上的 worker 日志和 plog 文件可能有更多信息",
    ),
    "reason.trainer_failed": ("the trainer failed", "训练器失败"),
    "reason.trainer_failed.means": (
        "The trainer's process ended with an exit code that is not 0, and its log does not name a known cause.",
        "训练器进程以非 0 退出码结束，其日志没有指出已知的原因。",
    ),
    "reason.trainer_failed.fix": (
        "Read the trainer's own message in the log, correct it and resume",
        "请阅读日志中训练器自己的信息，修正后继续",
    ),
    "reason.not_placed": ("the gang could not be placed in time", "未能在限定时间内获得所需节点"),
    "reason.not_placed.means": (
        "Fewer nodes than wanted had enough free NPUs and CPUs, the right labels and no quarantine within the bound.",
        "在限定时间内，NPU 与 CPU 空闲、标签符合且未被隔离的节点少于所需数量。",
    ),
    "reason.not_placed.fix": (
        "Free the nodes that the table names, ask for fewer, or raise cluster.place_wait_s",
        "请释放节点表中列出的节点、减少节点数，或增大 cluster.place_wait_s",
    ),
    "reason.flags_missing": ("a flag of the job did not arrive on a node", "作业的环境变量未到达某个节点"),
    "reason.flags_missing.means": (
        "A task on the node saw another value than the job sets, or none. A variable that was exported there before "
        "`ray start` can win.",
        "该节点上的任务看到的值与作业设置的不同，或根本没有。在 `ray start` 之前导出的变量可能优先。",
    ),
    "reason.flags_missing.fix": (
        "Start Ray on that node without that variable in its environment",
        "请在该节点上去掉环境中的该变量后重新启动 Ray",
    ),
    "reason.secret_missing": ("a secret cannot be read on a node", "某个节点无法读取密钥"),
    "reason.secret_missing.means": (
        "The job names a file or a variable that a node does not have, or that its user may not read.",
        "作业引用的文件或变量在某个节点上不存在，或 Ray 的用户无权读取。",
    ),
    "reason.secret_missing.fix": (
        "Put the file or the variable on every node, readable for the user of Ray",
        "请在每个节点上放置该文件或变量，并保证 Ray 的用户可读",
    ),
    "reason.node_frozen": ("a node did not answer and was given up", "某个节点无响应，已放弃"),
    "reason.node_frozen.means": (
        "Tasks on the node stayed unanswered for 10 s: the machine or its raylet hangs, though it may still answer "
        "pings.",
        "该节点上的任务超过 10 秒没有应答：机器或其 raylet 挂起，但可能仍能响应 ping。",
    ),
    "reason.node_frozen.fix": (
        "Look at the node's kernel log and devices, then restart Ray on it; the next attempt leaves it out",
        "请检查该节点的内核日志与设备，然后重启其 Ray；下一次尝试会排除该节点",
    ),
    "reason.node_lost": ("a node was lost", "某个节点丢失"),
    "reason.node_lost.means": (
        "Ray's processes on the node are gone, or Ray declared it dead: power, network, the kernel's out-of-memory "
        "killer or a restart.",
        "该节点上的 Ray 进程已消失，或 Ray 已将其判定为死亡：可能是断电、网络、内核 OOM 或重启。",
    ),
    "reason.node_lost.fix": (
        "Look at why the node went (dmesg, power, `ray stop`), then start Ray on it again; the next attempt leaves "
        "it out",
        "请查明节点丢失的原因（dmesg、电源、`ray stop`），然后重新启动其 Ray；下一次尝试会排除该节点",
    ),
    "reason.node_unfit": (
        "a node was found unfit and no other one could take its place",
        "某个节点不适合运行该作业，且没有其他节点可替代",
    ),
    "reason.node_unfit.means": (
        "Before training every node is looked at. One had an error (NR5xx), and no spare node was without.",
        "训练前会检查每个节点。其中有节点存在错误（NR5xx），而没有可用的备用节点。",
    ),
    "reason.node_unfit.fix": (
        "Repair what the findings name, or add a node; `npurun doctor` looks again",
        "请修复检查结果指出的问题，或增加节点；可用 `npurun doctor` 再次检查",
    ),
    "reason.fence_failed": (
        "something of an earlier attempt is left on a node and cannot be ended",
        "某个节点上仍有更早一次尝试留下的进程且无法结束",
    ),
    "reason.fence_failed.means": (
        "A process or device memory of an earlier attempt stayed for 60 s after it was killed, mostly a process that "
        "hangs in the driver.",
        "更早一次尝试的进程或设备内存在被结束 60 秒后仍然存在，多为卡在驱动中的进程。",
    ),
    "reason.fence_failed.fix": (
        "End the processes that the end record names, or restart the node; the next attempt leaves it out",
        "请结束“结束记录”中列出的进程，或重启该节点；下一次尝试会排除该节点",
    ),
    "reason.launch_failed": ("the trainer could not be started", "训练器无法启动"),
    "reason.launch_failed.means": (
        "The launcher or npurun's plugin for verl could not start the trainer on the reserved nodes.",
        "启动器或 npurun 的 verl 插件无法在已预留的节点上启动训练器。",
    ),
    "reason.launch_failed.fix": (
        "Read the end record in the log: it names what is missing",
        "请查看日志中的结束记录：其中指出了缺少什么",
    ),
    "reason.driver_error": ("npurun's own driver failed", "npurun 自己的 driver 出错"),
    "reason.driver_error.means": ("An error in npurun itself, not in the job.", "这是 npurun 自身的错误，与作业无关。"),
    "reason.driver_error.fix": (
        "Report it with the log; resuming may work all the same",
        "请附上日志报告；直接继续也可能成功",
    ),
    "reason.hung": ("no new step came within the bound", "在限定时间内没有新的步"),
    "reason.hung.means": (
        "The attempt ran without an error and without progress: a rank that is frozen, a collective that waits for "
        "it, a reward function without end, or an engine that hangs.",
        "该次尝试没有报错也没有进展：某个 rank 冻结、集合通信在等待它、奖励函数不返回，或引擎挂起。",
    ),
    "reason.hung.fix": (
        "Look at the stacks in the evidence. If steps are just slow, raise recovery.hang_min or "
        "recovery.first_step_min",
        "请查看证据中的调用栈。如果只是每步耗时较长，请增大 recovery.hang_min 或 recovery.first_step_min",
    ),
    "reason.no_checkpoint": ("no complete checkpoint to go on from", "没有可用于继续的完整检查点"),
    "reason.no_checkpoint.means": (
        "Steps were trained, but none of the saved checkpoints is complete on the nodes, and the job does not allow "
        "to train again from step 0.",
        "已训练若干步，但节点上没有任何完整的检查点，且作业不允许从第 0 步重新训练。",
    ),
    "reason.no_checkpoint.fix": (
        "Look at trainer.default_local_dir (shared storage? save_freq?), or allow recovery.from_start",
        "请检查 trainer.default_local_dir（是否共享存储？save_freq？），或允许 recovery.from_start",
    ),
    "reason.runtime_env_setup_failure": (
        "Ray could not set up the job's runtime environment",
        "Ray 无法建立作业的运行环境",
    ),
    "reason.runtime_env_setup_failure.means": (
        "A package, pip requirement or working_dir could not be installed or unpacked on a node before the trainer's "
        "processes start.",
        "在训练器进程启动之前，某个节点无法安装或解压软件包、pip 依赖或 working_dir。",
    ),
    "reason.runtime_env_setup_failure.fix": (
        "Read the message: install the packages into the image instead of runtime_env.pip, and make sure that nodes "
        "have disk space",
        "请阅读错误信息：将依赖装入镜像而不是写在 runtime_env.pip 中，并确认节点有磁盘空间",
    ),
    "reason.job_supervisor_actor_start_timeout": (
        "Ray did not start the job's supervisor in time",
        "Ray 未能及时启动作业的 supervisor",
    ),
    "reason.job_supervisor_actor_start_timeout.means": (
        "The head had no free worker for the actor that starts the entrypoint, or was overloaded (bound: 900 s).",
        "头节点没有空闲 worker 来运行启动入口命令的 actor，或负载过高（上限 900 秒）。",
    ),
    "reason.job_supervisor_actor_start_timeout.fix": (
        "Look whether the head node is alive and has free CPUs; then submit again",
        "请确认头节点存活且有空闲 CPU，然后重新提交",
    ),
    "reason.job_supervisor_actor_start_failure": (
        "Ray could not start the job's supervisor",
        "Ray 无法启动作业的 supervisor",
    ),
    "reason.job_supervisor_actor_start_failure.means": (
        "The actor that starts the entrypoint failed while it was created.",
        "负责启动入口命令的 actor 在创建时失败。",
    ),
    "reason.job_supervisor_actor_start_failure.fix": (
        "Look at the head's raylet and dashboard logs; submit again",
        "请查看头节点的 raylet 与 dashboard 日志，然后重新提交",
    ),
    "reason.job_supervisor_actor_unschedulable": (
        "Ray found no node for the job's supervisor",
        "Ray 找不到可运行作业 supervisor 的节点",
    ),
    "reason.job_supervisor_actor_unschedulable.means": (
        "The node that the entrypoint is pinned to, the head, is gone or does not match.",
        "入口命令所绑定的节点（头节点）已消失或不匹配。",
    ),
    "reason.job_supervisor_actor_unschedulable.fix": (
        "Look whether the head was restarted; submit again",
        "请确认头节点是否重启过，然后重新提交",
    ),
    "reason.job_supervisor_actor_unknown_failure": (
        "Ray lost sight of the job's supervisor",
        "Ray 与作业的 supervisor 失去联系",
    ),
    "reason.job_supervisor_actor_unknown_failure.means": (
        "Ray's job manager could not reach the actor that runs the entrypoint, mostly after a break of the GCS. The "
        "old driver may still live.",
        "Ray 的作业管理器无法联系运行入口命令的 actor，多发生在 GCS 中断之后。旧的 driver 可能仍在运行。",
    ),
    "reason.job_supervisor_actor_unknown_failure.fix": (
        "Submit again: the next attempt first ends what is left of this one",
        "请重新提交：下一次尝试会先清理本次的残留",
    ),
    "reason.job_supervisor_actor_died": ("the job's supervisor died", "作业的 supervisor 已死亡"),
    "reason.job_supervisor_actor_died.means": (
        "The process that runs the entrypoint on the head was killed, and the driver with it: by the out-of-memory "
        "killer, by hand, or because Ray was restarted.",
        "头节点上运行入口命令的进程被结束，driver 随之结束：可能是 OOM、人为操作或 Ray 重启。",
    ),
    "reason.job_supervisor_actor_died.fix": (
        "Look at the head's memory (dmesg); the next attempt goes on from the checkpoint",
        "请检查头节点的内存（dmesg）；下一次尝试会从检查点继续",
    ),
    "reason.job_entrypoint_command_start_error": ("Ray could not start the entrypoint", "Ray 无法启动入口命令"),
    "reason.job_entrypoint_command_start_error.means": (
        "The command of the job could not be run on the head: no python3, or no package there.",
        "作业的命令无法在头节点上运行：没有 python3 或缺少软件包。",
    ),
    "reason.job_entrypoint_command_start_error.fix": (
        "Look at the message; check the Python on the head node",
        "请查看错误信息，并检查头节点上的 Python",
    ),
    "reason.job_entrypoint_command_error": ("the entrypoint failed", "入口命令失败"),
    "reason.job_entrypoint_command_error.means": (
        "The driver ended with an exit code that is not 0, and nothing more is known from Ray.",
        "driver 以非 0 退出码结束，Ray 没有提供更多信息。",
    ),
    "reason.job_entrypoint_command_error.fix": (
        "Read the log of the job: `npurun diagnose` on it, with the workers' logs, may tell more",
        "请阅读作业日志：连同 worker 日志一起用 `npurun diagnose` 分析可能得到更多信息",
    ),
    "reason.runtime_env_conflict": (
        "the job and the trainer both set the same environment variable",
        "作业与训练器设置了同一个环境变量",
    ),
    "reason.runtime_env_conflict.means": (
        "Ray refuses to merge the job's runtime_env with that of ray.init when a key stands in both. verl sets some "
        "variables itself.",
        "当同一个键同时出现在作业的 runtime_env 和 ray.init 中时，Ray 拒绝合并。verl 会自行设置一些变量。",
    ),
    "reason.runtime_env_conflict.fix": (
        "Remove the variable from the job's env, or set it the way verl reads it (`npurun check` names them)",
        "请从作业的 env 中删除该变量，或用 verl 读取的方式设置（`npurun check` 会列出）",
    ),
    "reason.package_missing": ("Ray no longer has the uploaded package", "Ray 已没有上传过的软件包"),
    "reason.package_missing.means": (
        "Packages that were uploaded are kept for 10 minutes when nothing uses them, and are lost with the head.",
        "上传的软件包在无人使用时只保留 10 分钟，头节点丢失时也会丢失。",
    ),
    "reason.package_missing.fix": (
        "Submit again: npurun uploads what the cluster lacks",
        "请重新提交：npurun 会上传集群缺少的软件包",
    ),
    "reason.cluster_lost": ("the cluster came back without the job", "集群恢复后没有该作业"),
    "reason.cluster_lost.means": (
        "The Ray head was restarted, or another cluster stands at the address: it knows nothing of this job. Nothing "
        "of the attempt can go on.",
        "Ray 头节点被重启，或该地址上是另一个集群：它不知道该作业。该次尝试无法继续。",
    ),
    "reason.cluster_lost.fix": (
        "Make sure that all nodes have joined the new head; the next attempt goes on from the checkpoint",
        "请确认所有节点已加入新的头节点；下一次尝试会从检查点继续",
    ),
    "reason.gcs_lost": ("Ray's control service (GCS) could not be reached", "无法连接 Ray 的控制服务（GCS）"),
    "reason.gcs_lost.means": (
        "The head node died, was overloaded or cut off. Without it raylets and drivers end after about 60 s.",
        "头节点死亡、过载或网络中断。没有它，raylet 和 driver 约 60 秒后会结束。",
    ),
    "reason.gcs_lost.fix": (
        "Look at the head node (memory, disk, gcs_server.out) and start Ray there again",
        "请检查头节点（内存、磁盘、gcs_server.out）并重新启动 Ray",
    ),
    "reason.raylet_lost": ("a node's raylet died", "某个节点的 raylet 已死亡"),
    "reason.raylet_lost.means": (
        "Ray's own process on a node ended, and every worker on it: killed by hand, by the out-of-memory killer, or "
        "with the machine. What other nodes say (closed connections) comes from this.",
        "某个节点上 Ray 自己的进程结束，其上的所有 worker 随之结束：人为、OOM 或机器故障。其他节点报告的连接断开由"
        "此引起。",
    ),
    "reason.raylet_lost.fix": (
        "Look at that node (dmesg, `ray stop`, raylet.err) and start Ray there again; the next attempt leaves it out",
        "请检查该节点（dmesg、`ray stop`、raylet.err）并重新启动 Ray；下一次尝试会排除该节点",
    ),
    "reason.worker_not_registered": (
        "a worker process could not register with its raylet",
        "worker 进程无法向 raylet 注册",
    ),
    "reason.worker_not_registered.means": (
        "New worker processes did not come up in time: the node is overloaded, has too few process ids, or its ports "
        "are used up.",
        "新的 worker 进程未能及时启动：节点过载、进程数受限或端口用尽。",
    ),
    "reason.worker_not_registered.fix": (
        "Look at CPU load, `ulimit -u` and pids limit of the node; lower --num-cpus of `ray start`",
        "请检查该节点的 CPU 负载、`ulimit -u` 与 pids 限制；减小 `ray start` 的 --num-cpus",
    ),
    "reason.host_limits": (
        "a limit of the operating system was reached: processes, threads or open files",
        "达到操作系统限制：进程、线程或打开文件数",
    ),
    "reason.host_limits.means": (
        "The node refuses to create another thread or to open another file (ulimit -u, ulimit -n, the container's "
        "pids limit).",
        "节点拒绝再创建线程或打开文件（ulimit -u、ulimit -n、容器的 pids 限制）。",
    ),
    "reason.host_limits.fix": (
        "Raise these limits in the shell or unit that runs `ray start`, e.g. `ulimit -u 65535 -n 65535`, and restart "
        "Ray there",
        "请在运行 `ray start` 的 shell 或服务中提高这些限制，例如 `ulimit -u 65535 -n 65535`，并重启该节点的 Ray",
    ),
    "reason.ray_ports_exhausted": ("Ray has no free port left for workers", "Ray 没有可供 worker 使用的空闲端口"),
    "reason.ray_ports_exhausted.means": (
        "The range between --min-worker-port and --max-worker-port is smaller than the number of workers.",
        "--min-worker-port 与 --max-worker-port 之间的范围小于 worker 数量。",
    ),
    "reason.ray_ports_exhausted.fix": (
        "Start Ray with a wider range of worker ports",
        "请用更大的 worker 端口范围启动 Ray",
    ),
    "reason.resources_missing": (
        "the cluster has fewer devices than the trainer asks for",
        "集群的设备少于训练器的要求",
    ),
    "reason.resources_missing.means": (
        "verl counts the free NPUs of all nodes and finds too few, or asks for a resource that Ray does not know "
        "there (GPU in place of NPU).",
        "verl 统计所有节点空闲的 NPU 后发现不足，或请求了 Ray 不知道的资源（GPU 而不是 NPU）。",
    ),
    "reason.resources_missing.fix": (
        "Compare trainer.nnodes and n_gpus_per_node with `ray status`; start Ray with the NPU resource, and free "
        "what other jobs hold",
        "请将 trainer.nnodes 与 n_gpus_per_node 同 `ray status` 对比；启动 Ray 时声明 NPU 资源，并释放其他作业占用"
        "的设备",
    ),
    "reason.placement_timeout": ("a placement group could not be placed", "placement group 无法放置"),
    "reason.placement_timeout.means": (
        "A bundle fits on no node: too few free NPUs or CPUs on one node, although the sum over all nodes may be "
        "enough.",
        "某个 bundle 放不进任何节点：单个节点上空闲的 NPU 或 CPU 不足，尽管总和可能足够。",
    ),
    "reason.placement_timeout.fix": (
        "Look at the pending demands of `ray status`; each bundle needs its NPU and CPUs on one node",
        "请查看 `ray status` 中等待的资源需求；每个 bundle 需要在同一节点上获得 NPU 和 CPU",
    ),
    "reason.no_npu_on_node": ("the engine found no free NPU on its node", "引擎在所在节点上找不到空闲 NPU"),
    "reason.no_npu_on_node.means": (
        "The rollout engine asks Ray for NPUs of its own, but the node has none free: all are held by the training "
        "group, or Ray was started with GPU in place of NPU.",
        "推理引擎自行向 Ray 请求 NPU，但节点上没有空闲的：都被训练组占用，或启动 Ray 时声明的是 GPU 而不是 NPU。",
    ),
    "reason.no_npu_on_node.fix": (
        "Use verl's own rollout workers; start Ray with `--resources` that name NPU",
        "请使用 verl 自己的推理 worker；启动 Ray 时用 `--resources` 声明 NPU",
    ),
    "reason.devices_not_visible": ("a process does not see the device that it opens", "进程看不到它要打开的设备"),
    "reason.devices_not_visible.means": (
        "ASCEND_RT_VISIBLE_DEVICES names other devices than the process asks for, or Ray hid them: the device number "
        "of the rank does not exist for it.",
        "ASCEND_RT_VISIBLE_DEVICES 中的设备与进程要求的不同，或被 Ray 隐藏：对该进程而言，rank 对应的设备号不存在。",
    ),
    "reason.devices_not_visible.fix": (
        "Set RAY_EXPERIMENTAL_NOSET_ASCEND_RT_VISIBLE_DEVICES alike on all nodes, as the stack wants it, and check "
        "the device ids",
        "请在所有节点上按 stack 的要求统一设置 RAY_EXPERIMENTAL_NOSET_ASCEND_RT_VISIBLE_DEVICES，并检查设备号",
    ),
    "reason.actor_died": ("an actor died", "某个 actor 已死亡"),
    "reason.actor_died.means": (
        "A worker process of the trainer ended without a Python error: killed, crashed in native code, or lost with "
        "its node. The log names its pid and node.",
        "训练器的一个 worker 进程没有 Python 错误就结束了：被结束、在本地代码中崩溃，或随节点丢失。日志给出了其 "
        "pid 和节点。",
    ),
    "reason.actor_died.fix": (
        "Look at that node's kernel log (dmesg) and the worker's own log; the next attempt goes on from the checkpoint",
        "请查看该节点的内核日志（dmesg）和该 worker 的日志；下一次尝试会从检查点继续",
    ),
    "reason.actor_unavailable": ("an actor could not be reached", "无法联系某个 actor"),
    "reason.actor_unavailable.means": (
        "The connection to an actor broke; its node may be overloaded, or its raylet gone.",
        "与 actor 的连接中断；其节点可能过载，或 raylet 已消失。",
    ),
    "reason.actor_unavailable.fix": ("Look whether the node is alive and reachable", "请确认该节点存活且网络可达"),
    "reason.worker_crashed": ("a worker crashed in native code", "worker 在本地代码中崩溃"),
    "reason.worker_crashed.means": (
        "A segmentation fault, bus error or abort in a library (torch_npu, CANN, the rollout engine), below Python.",
        "库（torch_npu、CANN、推理引擎）在 Python 之下发生段错误、总线错误或 abort。",
    ),
    "reason.worker_crashed.fix": (
        "Look at the stack in the worker's log; if it comes again at the same place, report it to the library or "
        "change the versions",
        "请查看 worker 日志中的调用栈；如果总在同一处出现，请向该库报告或更换版本",
    ),
    "reason.worker_killed": ("a worker was killed by a signal", "worker 被信号结束"),
    "reason.worker_killed.means": (
        "Something sent SIGKILL or SIGTERM to a process of the trainer: a person, a scheduler, or the kernel when "
        "memory ran out.",
        "有东西向训练器的进程发送了 SIGKILL 或 SIGTERM：人、调度器，或内存不足时的内核。",
    ),
    "reason.worker_killed.fix": (
        "Look at dmesg of the node for the out-of-memory killer, and ask who else uses it",
        "请查看该节点 dmesg 中的 OOM 记录，并确认还有谁在使用它",
    ),
    "reason.actor_creation_cancelled": ("Ray cancelled the creation of an actor", "Ray 取消了 actor 的创建"),
    "reason.actor_creation_cancelled.means": (
        "The GCS gave up on creating an actor, mostly because a node or worker went away meanwhile.",
        "GCS 放弃创建 actor，多因其间有节点或 worker 消失。",
    ),
    "reason.actor_creation_cancelled.fix": (
        "Submit again; look at the nodes if it stays",
        "请重新提交；如果持续出现，请检查节点",
    ),
    "reason.object_lost": ("data in Ray's object store was lost", "Ray 对象存储中的数据丢失"),
    "reason.object_lost.means": (
        "The process or node that held an object died before another one read it.",
        "持有对象的进程或节点在其他进程读取之前已死亡。",
    ),
    "reason.object_lost.fix": ("Look for what died earlier in the log", "请在日志更早处查找死亡的进程或节点"),
    "reason.actor_name_taken": ("an actor of that name is already there", "同名 actor 已存在"),
    "reason.actor_name_taken.means": (
        "A named actor of an earlier attempt or of another job still lives in the same namespace.",
        "更早一次尝试或其他作业的同名 actor 仍在同一命名空间中。",
    ),
    "reason.actor_name_taken.fix": (
        "Submit again: the next attempt first ends what is left of earlier ones; two jobs must not share a name",
        "请重新提交：下一次尝试会先清理残留；两个作业不能使用相同名称",
    ),
}
