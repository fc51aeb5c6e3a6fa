"""Headings of the families of reasons (recovery/reasons.py): id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "reason.family.outcome": ("Outcomes", "结果"),
    "reason.family.attempt": ("The attempt", "尝试本身"),
    "reason.family.ray_job": ("Ray jobs", "Ray 作业"),
    "reason.family.cluster": ("The cluster", "集群"),
    "reason.family.placement": ("Placement", "资源放置"),
    "reason.family.config": ("Configuration", "配置"),
    "reason.family.arithmetic": ("Arithmetic", "数值与整除"),
    "reason.family.version": ("Versions", "版本"),
    "reason.family.device_memory": ("Device memory", "设备内存"),
    "reason.family.host_memory": ("Host memory", "主机内存"),
    "reason.family.process": ("Processes and actors", "进程与 actor"),
    "reason.family.network": ("Network and collectives", "网络与集合通信"),
    "reason.family.device": ("Devices", "设备"),
    "reason.family.checkpoint": ("Checkpoints", "检查点"),
    "reason.family.storage": ("Storage", "存储"),
    "reason.family.rollout": ("Rollout and weight sync", "推理与权重同步"),
    "reason.family.data": ("Data", "数据"),
    "reason.family.user_code": ("User code", "用户代码"),
}
