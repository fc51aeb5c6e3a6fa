"""Texts of the host probes, and of a node that does not answer: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "NR531": (
        "{value} of the memory of node {node} are in use ({free} of {total} GiB free); Ray ends workers above {limit}",
        "节点 {node} 的内存已用 {value}（{total} GiB 中空闲 {free} GiB）；超过 {limit} 时 Ray 会结束 worker",
    ),
    "NR531.fix": (
        "See what holds it: `ps aux --sort=-rss | head`; end what is left over, or raise the container's limit",
        "用 `ps aux --sort=-rss | head` 查看占用者；结束残留进程，或提高容器内存限制",
    ),
    "NR531.about": (
        "Memory of the host, and of the container or service where that has a limit, before the job takes any. Ray's "
        "memory monitor ends workers above its threshold, and the trainer with them.",
        "作业启动前主机内存以及容器（或服务）限额内的内存使用情况。超过阈值时 Ray 的内存监控会结束 worker，"
        "训练随之失败。",
    ),
    "NR532": (
        "{path} of node {node} has {value} free of {total}; {limit} are wanted",
        "节点 {node} 的 {path} 共 {total}，仅剩 {value}；至少需要 {limit}",
    ),
    "NR532.fix": (
        "Start the container with `--shm-size=64g` or more (Kubernetes: an emptyDir with medium Memory); remove what "
        "ended processes left: `ls -l {path}`",
        "启动容器时使用 `--shm-size=64g` 或更大（Kubernetes：medium 为 Memory 的 emptyDir）；"
        "清理已结束进程的残留：`ls -l {path}`",
    ),
    "NR532.about": (
        "Shared memory holds Ray's objects and the channels of inference workers. Docker's default is 64 MiB; workers "
        "then end with a bus error. One that Ray's own objects fill is no error.",
        "共享内存存放 Ray 对象以及推理 worker 的通道。Docker 默认只有 64 MiB，worker 会以 bus error 结束。"
        "仅被 Ray 自身对象占满不算错误。",
    ),
    "NR533": (
        "{path} on node {node} has {value} free of {total}; {limit} are wanted",
        "节点 {node} 的 {path} 共 {total}，仅剩 {value}；至少需要 {limit}",
    ),
    "NR533.fix": (
        "`du -xsh {path}/* | sort -h` there; remove old Ray sessions and core files, or start Ray with --temp-dir on a "
        "larger disk",
        "在该节点执行 `du -xsh {path}/* | sort -h`；清理旧的 Ray 会话和 core 文件，或用 --temp-dir 将 Ray "
        "放到更大的磁盘",
    ),
    "NR533.about": (
        "Ray's temporary folder holds logs, sockets, the job's files and spilled objects; torch and CANN write "
        "to /tmp. "
        "Ray spills nothing to a file system with less than 5 % free.",
        "Ray 临时目录存放日志、套接字、作业文件和溢出对象；torch 与 CANN 会写 /tmp。文件系统空闲不足 5% 时 Ray "
        "不再溢出对象。",
    ),
    "NR534": (
        "Ray's workers on node {node} may open {value} files; {limit} or more are wanted",
        "节点 {node} 上 Ray worker 最多可打开 {value} 个文件；建议不少于 {limit}",
    ),
    "NR534.fix": (
        "`ulimit -n 1048576` in the shell that runs `ray start` there (docker: --ulimit nofile=1048576)",
        "在该节点执行 `ray start` 的 shell 中先运行 `ulimit -n 1048576`（docker：--ulimit nofile=1048576）",
    ),
    "NR534.about": (
        "The limit of open files that workers inherit from `ray start`. Sockets count: HCCL, gloo and Ray open one per "
        "peer, checkpoints one per shard.",
        "worker 从 `ray start` 继承的打开文件数限制。套接字也计入：HCCL、gloo、Ray 对每个对端各开一个，"
        "检查点每个分片一个。",
    ),
    "NR535": (
        "{which} on node {node} allows {value} processes and threads; {limit} or more are wanted",
        "节点 {node} 的 {which} 只允许 {value} 个进程和线程；建议不少于 {limit}",
    ),
    "NR535.fix": (
        "`ulimit -u unlimited` before `ray start`, or raise the container's limit (docker: --pids-limit=-1; "
        "Kubernetes: "
        "podPidsLimit)",
        "在 `ray start` 之前执行 `ulimit -u unlimited`，或提高容器限制（docker：--pids-limit=-1；Kubernetes："
        "podPidsLimit）",
    ),
    "NR535.about": (
        "Threads count too, and each worker of Ray and torch has dozens. At the limit workers do not register, or end "
        'with "can\'t start new thread".',
        "线程也计入，Ray 和 torch 的每个 worker 都有数十个线程。达到上限时 worker 无法注册，或以 "
        '"can\'t start new thread" 结束。',
    ),
    "NR536": (
        "the clock of node {node} is off by {value}; {limit} are allowed",
        "节点 {node} 的时钟偏差 {value}；允许 {limit}",
    ),
    "NR536.fix": (
        "`chronyc tracking` or `timedatectl` there; start time synchronisation",
        "在该节点运行 `chronyc tracking` 或 `timedatectl`；启用时间同步",
    ),
    "NR536.about": (
        "Each node's clock against the middle one of all, less what the way to the node can explain. Logs that "
        "are read "
        "side by side, leases and tokens depend on it. Of two nodes both are named: which is wrong cannot be told.",
        "将各节点时钟与所有节点的中位数比较，并扣除网络往返的影响。日志对照、租约和令牌都依赖时钟。"
        "只有两个节点时两者都会列出：无法判断哪个有误。",
    ),
    "NR537": (
        "node {node} has {value} huge pages, other nodes have {limit}",
        "节点 {node} 有 {value} 个大页，其他节点为 {limit}",
    ),
    "NR537.fix": (
        "`sysctl vm.nr_hugepages` there; set it as on the others",
        "在该节点查看 `sysctl vm.nr_hugepages`，设置为与其他节点相同",
    ),
    "NR537.about": (
        "Huge pages are taken from the host's memory at its start. A difference shows a host that was set up "
        "differently.",
        "大页在主机启动时从内存中预留。数量不同说明主机配置不同。",
    ),
    "NR538": (
        "processes on node {node} may use {value} CPUs; the job's bundles count {limit}",
        "节点 {node} 上的进程可用 {value} 个 CPU；作业的 bundle 需要 {limit} 个",
    ),
    "NR538.fix": (
        "Raise the container's CPU quota, or start Ray there with the CPUs that it has (--num-cpus)",
        "提高容器的 CPU 配额，或按实际 CPU 数启动该节点的 Ray（--num-cpus）",
    ),
    "NR538.about": (
        "Ray counts the CPUs that it was told. Affinity and the container's quota decide what there really is; with "
        "less the trainer runs, and slowly.",
        "Ray 只按启动时给定的 CPU 数计算；实际可用数由亲和性和容器配额决定。不足时训练仍能运行，但很慢。",
    ),
    "NR539": (
        "node {node} has {value} of memory, others {limit}",
        "节点 {node} 的内存为 {value}，其他节点为 {limit}",
    ),
    "NR539.fix": (
        "Compare the container's memory limit and `free -g` there with another node",
        "将该节点的容器内存限制和 `free -g` 与其他节点对比",
    ),
    "NR539.about": (
        "The host's memory or the container's limit, whichever is smaller. Parameters moved to the host take the same "
        "on every node: the smallest one ends the job.",
        "取主机内存与容器限额中较小者。卸载到主机的参数在每个节点占用相同，内存最小的节点会使作业失败。",
    ),
    "NR540": (
        "{value} Ray clusters have a raylet on node {node} ({addresses}), {limit} is usual; zombie workers of Ray: "
        "{zombies}",
        "节点 {node} 上有 {value} 个 Ray 集群的 raylet（{addresses}），通常为 {limit} 个；Ray 僵尸 worker：{zombies}",
    ),
    "NR540.fix": (
        "Look at `ps -ef | grep raylet` there and end the cluster that nobody uses; zombies go with the process that "
        "started them, or with the container",
        "在该节点查看 `ps -ef | grep raylet`，结束无人使用的集群；僵尸进程会随其父进程或容器一同消失",
    ),
    "NR540.about": (
        "Two Ray clusters on one host offer the same devices twice. Zombie workers stay where a container's first "
        "process does not collect them.",
        "同一主机上的两个 Ray 集群会重复提供相同的设备。容器的 1 号进程不回收子进程时，僵尸 worker 会一直残留。",
    ),
    "NR541": (
        "processes of another attempt, {value}, run on node {node}: {pids}",
        "节点 {node} 上有另一次尝试 {value} 的进程：{pids}",
    ),
    "NR541.fix": (
        "`npurun status` of that run tells whether it is alive; end what is left over: `kill <pid>`",
        "用 `npurun status` 查看该运行是否仍在进行；结束残留进程：`kill <pid>`",
    ),
    "NR541.about": (
        "Found by NPURUN_ATTEMPT in their environment. A driver or a node worker of another run does no harm; what an "
        "earlier attempt of the same run left is ended by the fence before.",
        "通过进程环境中的 NPURUN_ATTEMPT 识别。其他运行的 driver 或节点 worker 并无影响；"
        "同一运行更早尝试的残留已由隔离步骤（fence）清除。",
    ),
    "NR571": (
        "node {node} is silent: {value}",
        "节点 {node} 没有应答：{value}",
    ),
    "NR571.fix": (
        "See whether it is alive (`ray status`, then ssh): load, memory, a file system that hangs (`df`, state D in "
        "`ps`), raylet.out in Ray's logs",
        "确认其是否存活（`ray status`，再 ssh）：查看负载、内存、卡死的文件系统（`df`、`ps` 中的 D 状态）以及 "
        "Ray 日志 raylet.out",
    ),
    "NR571.about": (
        "All nodes are asked at once. One whose worker did not start or answer within the bound, while half of the "
        "others had, is named and left out; the rest is judged without it.",
        "所有节点同时被询问。若半数节点已应答而某节点的 worker 在限定时间内仍未启动或应答，则列出并排除该节点，"
        "其余照常判断。",
    ),
}
