"""Texts of this room: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "rehearsal.starting": (
        "starting {nodes} Ray nodes on this machine; dashboard {address}",
        "正在本机启动 {nodes} 个 Ray 节点;控制面板 {address}",
    ),
    "rehearsal.waiting": (
        "waiting for Ray nodes: {missing}",
        "正在等待 Ray 节点:{missing}",
    ),
    "rehearsal.start_timeout": (
        "Ray nodes not alive after {limit} s: {missing}; is the machine overloaded? Try again, or with fewer --nodes",
        "{limit} 秒后 Ray 节点仍未就绪:{missing};机器可能过载:请重试,或减少 --nodes",
    ),
    "rehearsal.node_ended": (
        "`ray start` of node {node} ended with code {code}: {tail}",
        "节点 {node} 的 `ray start` 已退出,退出码 {code}:{tail}",
    ),
    "rehearsal.no_raylet": (
        "the raylet below process {keeper} is gone although Ray calls its node alive; try again",
        "Ray 显示节点存活,但进程 {keeper} 之下的 raylet 已消失;请重试",
    ),
    "rehearsal.memory": (
        "{nodes} local Ray nodes need {value} GiB of memory and {limit} GiB are free; use fewer --nodes",
        "{nodes} 个本地 Ray 节点需要 {value} GiB 内存,可用 {limit} GiB;请减少 --nodes",
    ),
    "rehearsal.no_ports": (
        "too few ports are free in this cluster's block of {limit}; end other programs or use fewer --nodes",
        "本集群的 {limit} 个端口中空闲端口不足;请结束其他程序或减少 --nodes",
    ),
    "rehearsal.no_block": (
        "all {limit} blocks of ports for local clusters are in use; end other rehearsals first",
        "本地集群的 {limit} 个端口段均被占用;请先结束其他演练",
    ),
    "rehearsal.no_python": ("cannot run {python}: {reason}", "无法运行 {python}:{reason}"),
    "rehearsal.no_ray": (
        "{python} has no Ray; install the extra: pip install 'npurun[rehearsal]'",
        "{python} 未安装 Ray;请安装附加组件:pip install 'npurun[rehearsal]'",
    ),
}
