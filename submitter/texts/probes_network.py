"""Texts of the network probes: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "NR521": (
        "{name}={value} names no interface with an IP on node {node}; it has {limit}",
        "节点 {node} 上没有与 {name}={value} 对应且有 IP 的网卡；该节点有 {limit}",
    ),
    "NR521.fix": (
        "Set {name}={own} in that node's environment before `ray start`, and take it out of the job where names differ",
        "在该节点 `ray start` 之前设置 {name}={own}；若各节点网卡名不同，请从作业中去掉该变量",
    ),
    "NR521.about": (
        "HCCL_SOCKET_IFNAME (prefixes; `=` whole names, `^` all but these) and GLOO_SOCKET_IFNAME (whole names) are "
        "held against the interfaces that have an IP on each node. Without a match HCCL or gloo fails at its start.",
        "将 HCCL_SOCKET_IFNAME（前缀匹配；`=` 为全名，`^` 为排除）和 GLOO_SOCKET_IFNAME（全名）与各节点有 IP 的"
        "网卡对比。没有匹配的网卡时，HCCL 或 gloo 启动即失败。",
    ),
    "NR522": (
        "the name {name} of node {node} leads to {value} there, not to an address that other nodes can reach",
        "节点 {node} 的主机名 {name} 在本机解析为 {value}，其他节点无法访问该地址",
    ),
    "NR522.fix": (
        "Set GLOO_SOCKET_IFNAME={own} there before `ray start`, or give the name the node's own IP in /etc/hosts",
        "在该节点 `ray start` 之前设置 GLOO_SOCKET_IFNAME={own}，或在 /etc/hosts 中将主机名指向本机 IP",
    ),
    "NR522.about": (
        "Without GLOO_SOCKET_IFNAME gloo binds to the address of the host's own name. Where that is a loopback address "
        "or none, process groups across nodes wait until they time out.",
        "未设置 GLOO_SOCKET_IFNAME 时，gloo 绑定到主机名解析出的地址。若为回环地址或无法解析，"
        "跨节点进程组会一直等待直至超时。",
    ),
    "NR523": (
        "node {source} does not reach {peer}: {value}",
        "节点 {source} 无法连接 {peer}：{value}",
    ),
    "NR523.fix": (
        "On {source} look at `ip route get <address>` and `ping`, then at firewalls and security groups of both; node "
        "{node} is left out until then",
        "在 {source} 上检查 `ip route get <地址>` 和 `ping`，再检查双方的防火墙与安全组；在此之前节点 {node} 会被排除",
    ),
    "NR523.about": (
        "Each node opens a TCP connection to every other: to a port of its own choice, and to ports that the job will "
        "need there (torchrun's rendezvous, the first and last of HCCL's). A refusal on the latter is well: the "
        "packets came and went. Of the nodes in failing pairs the fewest that explain all of them are blamed.",
        "每个节点向其他所有节点建立 TCP 连接：先连对方临时监听的端口，再连作业将使用的端口（torchrun 会合端口、"
        "HCCL 端口段的首尾）。后者被拒绝属正常：说明报文可达。归因时取能解释所有失败连接的最少节点。",
    ),
    "NR524": (
        "ports that the job needs are taken on node {node}: {value}",
        "作业需要的端口在节点 {node} 上已被占用：{value}",
    ),
    "NR524.fix": (
        "See who listens: `ss -ltnp`; end it, or choose other ports (master_port, HCCL_IF_BASE_PORT, or "
        "HCCL_HOST_SOCKET_PORT_RANGE=auto)",
        "用 `ss -ltnp` 查看占用者；结束它，或改用其他端口（master_port、HCCL_IF_BASE_PORT，或 "
        "HCCL_HOST_SOCKET_PORT_RANGE=auto）",
    ),
    "NR524.about": (
        "Listening sockets on torchrun's fixed port and on HCCL's port of each device; of HCCL_HOST_SOCKET_PORT_RANGE "
        "only where fewer ports are free than there are devices. Those on the loopback interface "
        "alone do not count. HCCL reports such a port as EI0019.",
        "检查 torchrun 固定端口以及 HCCL 每个设备端口上的监听套接字；"
        "对 HCCL_HOST_SOCKET_PORT_RANGE，仅当空闲端口少于设备数时计入；"
        "仅监听回环地址的不计。HCCL 对此报 EI0019。",
    ),
    "NR525": (
        "HCCL's ports {value} on node {node} lie in the kernel's ephemeral range {limit} and are not reserved",
        "节点 {node} 上 HCCL 的端口 {value} 位于内核临时端口范围 {limit} 内且未保留",
    ),
    "NR525.fix": (
        "`sysctl -w net.ipv4.ip_local_reserved_ports={value}` there, with what is reserved already before it",
        "在该节点执行 `sysctl -w net.ipv4.ip_local_reserved_ports={value}`，并保留原有的端口",
    ),
    "NR525.about": (
        "The kernel gives ports of its ephemeral range to any outgoing connection. Now and then one of them is what "
        "HCCL wants to bind next; CANN's documentation asks to reserve 16 ports.",
        "内核会把临时端口范围内的端口分配给任意外出连接，偶尔会与 HCCL 即将绑定的端口冲突；CANN 文档要求保留 16 "
        "个端口。",
    ),
    "NR526": (
        "the MTU of node {node} is {value}, that of other nodes {limit}",
        "节点 {node} 的 MTU 为 {value}，其他节点为 {limit}",
    ),
    "NR526.fix": (
        "`ip link set dev <interface> mtu {limit}` there, if the switch carries it",
        "若交换机支持，在该节点执行 `ip link set dev <网卡> mtu {limit}`",
    ),
    "NR526.about": (
        "MTU of the interface that has the node's Ray address. Larger packets than the smallest MTU on the way are cut "
        "or dropped: connections come about, and hang with the first large message.",
        "持有节点 Ray 地址的网卡的 MTU。大于路径最小 MTU 的报文会被分片或丢弃：连接能建立，但首个大消息时卡住。",
    ),
    "NR527": (
        "/etc/hccn.conf of node {node} gives NPU {npu} the address {value}, as on node {other}",
        "节点 {node} 的 /etc/hccn.conf 中 NPU {npu} 的地址为 {value}，与节点 {other} 相同",
    ),
    "NR527.fix": (
        "Ask the device itself: `hccn_tool -i {npu} -ip -g`; give each device of the cluster an address of its own",
        "用 `hccn_tool -i {npu} -ip -g` 查询设备实际地址；为集群中每个设备配置独立地址",
    ),
    "NR527.about": (
        "RoCE addresses of the devices as the host's configuration has them. One that two hosts share for the same "
        "device comes from a copied file: if the devices have it too, links between nodes fail.",
        "主机配置中各设备的 RoCE 地址。两台主机的同一设备地址相同，多半是复制了配置文件；"
        "若设备实际地址也相同，则跨节点建链失败。",
    ),
    "NR528": (
        "a connection from node {node} to {peer} takes {value}, usual is {limit}",
        "节点 {node} 到 {peer} 的连接耗时 {value}，通常为 {limit}",
    ),
    "NR528.fix": (
        "Compare `ping` and `ip route get {peer}` there with another pair of nodes",
        "在该节点将 `ping` 与 `ip route get {peer}` 的结果和其他节点对比",
    ),
    "NR528.about": (
        "Time that a TCP connection takes to come about between two nodes. One far from the usual goes another way "
        "(management network, VPN), or its host is very busy.",
        "两节点间建立 TCP 连接的耗时。明显偏离通常值时，可能走了其他路径（管理网、VPN），或主机负载过高。",
    ),
    "NR529": (
        "on node {node} {count} host names of other nodes do not lead to them: {value} ({why})",
        "节点 {node} 上有 {count} 个其他节点的主机名不能解析到对应节点：{value}（{why}）",
    ),
    "NR529.fix": (
        "Add them to DNS or /etc/hosts there if your own code uses host names",
        "如果您的代码使用主机名，请在 DNS 或该节点的 /etc/hosts 中添加",
    ),
    "NR529.about": (
        "Every node looks up the host names of the others within a bound. Ray, verl and npurun use addresses; user "
        "code, trackers and rank tables may use names.",
        "每个节点在限定时间内解析其他节点的主机名。Ray、verl 和 npurun 使用 IP 地址；用户代码、跟踪工具或 rank table "
        "可能使用主机名。",
    ),
    "NR530": (
        "node {node} reaches others from {value}, not from its Ray address {limit}",
        "节点 {node} 访问其他节点时使用地址 {value}，而不是其 Ray 地址 {limit}",
    ),
    "NR530.fix": (
        "Start Ray there with `--node-ip-address={value}`, or set HCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME per node",
        "以 `--node-ip-address={value}` 启动该节点的 Ray，或按节点设置 HCCL_SOCKET_IFNAME 与 GLOO_SOCKET_IFNAME",
    ),
    "NR530.about": (
        "The kernel's own choice of an address towards the peers. Where it is not Ray's, traffic that is bound to no "
        "interface takes another network than Ray shows.",
        "内核访问对端时选用的本机地址。若与 Ray 地址不同，未绑定网卡的流量会走与 Ray 所示不同的网络。",
    ),
}
