"""Texts of the device probes: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "NR501": (
        "NPUs that npu-smi shows on node {node}: {value}; wanted: {limit}",
        "节点 {node} 上 npu-smi 只显示 {value} 个 NPU，需要 {limit} 个",
    ),
    "NR501.fix": (
        "Run `npu-smi info` there; a card that is missing needs a reset or a repair: leave the node out until then",
        "在该节点运行 `npu-smi info`；缺失的卡需要复位或维修，在此之前请排除该节点",
    ),
    "NR501.about": (
        "Counts the devices that npu-smi shows against the NPU resource that Ray offers and the job asks for. With "
        "fewer devices than Ray believes in, some rank opens a device that is not there. A hint where Ray offers fewer "
        "than the job asks for, too: the job never runs there.",
        "将 npu-smi 显示的设备数与 Ray 的 NPU 资源及作业需求对比。设备数少于 Ray 的登记数时，"
        "某个 rank 会打开不存在的设备。若 Ray 的登记数本身也少于作业需求，则仅作提示：作业不会放置在该节点。",
    ),
    "NR502": (
        "node {node} offers Ray {value} NPU, while npu-smi shows {limit} devices",
        "节点 {node} 向 Ray 只登记了 {value} 个 NPU，而 npu-smi 显示 {limit} 个设备",
    ),
    "NR502.fix": (
        "Restart Ray there with `ray start … --resources='{{\"NPU\": {limit}}}'` and without --num-gpus",
        "在该节点重启 Ray：`ray start … --resources='{{\"NPU\": {limit}}}'`，不要使用 --num-gpus",
    ),
    "NR502.about": (
        "An NPU host whose Ray was started without the NPU resource, with too few, or with --num-gpus: the trainer's "
        "placement groups can never be placed there, and wait without a word. A warning where it offers as many as the "
        "job asks for: a host may be split on purpose.",
        "NPU 主机启动 Ray 时没有登记 NPU 资源、登记过少，或使用了 --num-gpus："
        "训练器的 placement group 永远无法放置，会一直静默等待。"
        "若登记数已满足作业需求（有意拆分的主机），则只给出警告。",
    ),
    "NR503": (
        "NPU {npu} ({name}) of node {node} has health {value}",
        "节点 {node} 的 NPU {npu}（{name}）健康状态为 {value}",
    ),
    "NR503.fix": (
        "Look at `npu-smi info -t health -i <card>` and the device log there; reset or replace the card",
        "在该节点查看 `npu-smi info -t health -i <card>` 与设备日志；复位或更换该卡",
    ),
    "NR503.about": (
        "npu-smi's health of each device. A device with an alarm fails within the run, and shows on the others as an "
        "HCCL time-out. `Warning` and `Unknown` are warnings here; NA is no verdict.",
        "npu-smi 报告的每个设备的健康状态。有告警的设备会在训练中失败，而其他节点上只表现为 HCCL 超时。"
        "`Warning` 与 `Unknown` 只给出警告；NA 不作判断。",
    ),
    "NR504": (
        "process {value} ({command}, user {owner}) holds NPU {npu} of node {node}, {memory_mb} MB",
        "进程 {value}（{command}，用户 {owner}）占用节点 {node} 的 NPU {npu}，{memory_mb} MB",
    ),
    "NR504.fix": (
        "Ask its owner, or end it if it is left over: {how}",
        "请联系其所有者；若为残留进程，请结束它：{how}",
    ),
    "NR504.about": (
        "Processes that hold a device although this attempt has not started its trainer: they take its memory, and "
        "HCCL cannot start beside them. Those of earlier attempts of the same run are ended by the fence before.",
        "本次尝试尚未启动训练器时已占用设备的进程：它们占用显存，并使 HCCL 无法启动。"
        "同一运行更早尝试留下的进程已由隔离步骤（fence）清除。",
    ),
    "probe.end_here": (
        "`kill {value}`, then `kill -9 {value}` there",
        "在该节点执行 `kill {value}`，必要时 `kill -9 {value}`",
    ),
    "probe.end_on_host": (
        "the pid is the host's, not one of Ray's container: `ps -fp {value}` on the host itself",
        "该 pid 属于宿主机，而非 Ray 所在容器：请在宿主机上执行 `ps -fp {value}`",
    ),
    "NR505": (
        "{value} of NPU {npu} on node {node} are in use, and npu-smi shows no process; an idle one holds less than "
        "{limit}",
        "节点 {node} 的 NPU {npu} 已占用 {value}，而 npu-smi 没有显示进程；空闲设备占用低于 {limit}",
    ),
    "NR505.fix": (
        "Look for a process in another container there (`npu-smi info` on the host), or reset the card",
        "在该主机上查找其他容器中的进程（在宿主机运行 `npu-smi info`），或复位该卡",
    ),
    "NR505.about": (
        "Device memory that nobody seems to hold: a process in another container, or one that has just ended. The "
        "trainer would run out of memory.",
        "看似无人占用、实际已被使用的显存：可能来自其他容器中的进程，或刚结束的进程。训练器会因此显存不足。",
    ),
    "NR506": (
        "node {node} has {value} of {limit} device files; absent: {absent}; not readable and writable: {unreadable}",
        "节点 {node} 有 {value} / {limit} 个设备文件；缺失：{absent}；不可读写：{unreadable}",
    ),
    "NR506.fix": (
        "Start the container with all /dev/davinci*, /dev/davinci_manager, /dev/devmm_svm and /dev/hisi_hdc",
        "启动容器时挂载全部 /dev/davinci*、/dev/davinci_manager、/dev/devmm_svm 和 /dev/hisi_hdc",
    ),
    "NR506.about": (
        "The device files that CANN opens. A container has only those that it was started with.",
        "CANN 需要打开的设备文件。容器只能看到启动时挂载的设备。",
    ),
    "NR510": (
        "npu-smi cannot ask the NPUs of node {node}: {value}",
        "节点 {node} 的 npu-smi 无法查询 NPU：{value}",
    ),
    "NR510.fix": (
        "Run `npu-smi info` on the host itself: if it fails there too, look at `dmesg`, reset the cards or reboot; if "
        "it works, start the container with /usr/local/Ascend/driver, /usr/local/dcmi and all /dev/davinci*",
        "在宿主机上运行 `npu-smi info`：若同样失败，请查看 `dmesg`，复位 NPU 或重启主机；若正常，"
        "启动容器时请挂载 /usr/local/Ascend/driver、/usr/local/dcmi 和全部 /dev/davinci*",
    ),
    "NR510.about": (
        "npu-smi is there, and hangs or ends with an error of the driver (dcmi, such as -8005). A device that its own "
        "tool cannot ask does not train. An error where other nodes answer and Ray offers NPUs here, else a warning; "
        "no problem without the tool: that is not measured.",
        "npu-smi 存在，但没有返回，或以驱动错误（dcmi，例如 -8005）结束。连自带工具都无法查询的设备无法训练。"
        "若其他节点有应答且 Ray 在该节点登记了 NPU，则为错误，否则为警告；没有该工具时不作判断（未测量）。",
    ),
}
