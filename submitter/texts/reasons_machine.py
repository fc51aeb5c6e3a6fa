"""Texts of the reasons that lie in memory, network, devices, storage, rollout: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "reason.npu_out_of_memory": ("an NPU ran out of memory", "NPU 内存不足"),
    "reason.npu_out_of_memory.means": (
        "Weights, activations, optimizer state and KV cache together exceed the device's memory at this point.",
        "权重、激活、优化器状态与 KV cache 之和在此时超过了设备内存。",
    ),
    "reason.npu_out_of_memory.fix": (
        "Lower rollout.gpu_memory_utilization, the micro-batch or tokens per device, or offload parameters and "
        "optimizer; recovery.on_reason can do it by itself",
        "请减小 rollout.gpu_memory_utilization、micro-batch 或每设备 token 数，或将参数与优化器 offload；"
        "recovery.on_reason 可自动处理",
    ),
    "reason.kv_cache_too_small": ("no room is left for the KV cache", "没有足够空间存放 KV cache"),
    "reason.kv_cache_too_small.means": (
        "After the weights are loaded, the share of memory that the engine may use does not hold one sequence of "
        "full length.",
        "加载权重之后，引擎可用的内存放不下一条最大长度的序列。",
    ),
    "reason.kv_cache_too_small.fix": (
        "Raise rollout.gpu_memory_utilization or the rollout's tensor parallel size, or lower max_model_len",
        "请增大 rollout.gpu_memory_utilization 或推理的张量并行度，或减小 max_model_len",
    ),
    "reason.device_memory_taken": ("something else holds the device's memory", "设备内存被其他进程占用"),
    "reason.device_memory_taken.means": (
        "The free memory at start is below what the engine is to use: a process of an earlier run or of another user "
        "is on the device.",
        "启动时的空闲内存低于引擎要使用的量：更早的运行或其他用户的进程仍在设备上。",
    ),
    "reason.device_memory_taken.fix": (
        "End the process that npu-smi shows on that device; the next attempt waits for it",
        "请结束 npu-smi 在该设备上显示的进程；下一次尝试会等待",
    ),
    "reason.ray_oom_killed": (
        "Ray killed a worker because the node's memory ran out",
        "节点内存不足，Ray 结束了一个 worker",
    ),
    "reason.ray_oom_killed.means": (
        "Above 95 % of the node's memory Ray ends the worker that is cheapest to lose. Mostly memory grows over "
        "hours, or a checkpoint gathers too much on one node.",
        "节点内存超过 95% 时，Ray 会结束代价最小的 worker。多为内存在数小时内增长，或保存检查点时集中在一个节点。",
    ),
    "reason.ray_oom_killed.fix": (
        "Look at the list of the largest processes in the message; use fewer agent or reward workers, less "
        "offloading, or resume more often",
        "请查看信息中占用最大的进程列表；减少 agent 或奖励 worker、减少 offload，或更频繁地续训",
    ),
    "reason.host_out_of_memory": ("a node ran out of memory", "某个节点内存不足"),
    "reason.host_out_of_memory.means": (
        "The kernel or the container's limit killed a process, or an allocation failed.",
        "内核或容器限制结束了进程，或内存分配失败。",
    ),
    "reason.host_out_of_memory.fix": (
        "Look at dmesg of the node and at what else runs there; lower offloading, workers or the object store, or "
        "raise the container's limit",
        "请查看该节点的 dmesg 以及其上运行的其他程序；减少 offload、worker 或对象存储，或提高容器限制",
    ),
    "reason.shm_full": ("/dev/shm of a node is full or too small", "某个节点的 /dev/shm 已满或太小"),
    "reason.shm_full.means": (
        "Shared memory holds Ray's objects and data loaders' batches; a container gets 64 MB unless told otherwise.",
        "共享内存存放 Ray 的对象和数据加载器的批；容器默认只有 64 MB。",
    ),
    "reason.shm_full.fix": (
        "Start the container with a larger --shm-size, and remove files that ended processes left in /dev/shm",
        "请用更大的 --shm-size 启动容器，并清理 /dev/shm 中已结束进程留下的文件",
    ),
    "reason.object_store_full": ("Ray's object store is full", "Ray 的对象存储已满"),
    "reason.object_store_full.means": (
        "Objects did not fit into the object store of a node, and could not be spilled to disk.",
        "对象放不进某个节点的对象存储，也无法溢出到磁盘。",
    ),
    "reason.object_store_full.fix": (
        "Start Ray with a larger --object-store-memory, and look at the disk that it spills to",
        "请用更大的 --object-store-memory 启动 Ray，并检查溢出所用的磁盘",
    ),
    "reason.collective_timeout": ("a collective operation timed out", "集合通信超时"),
    "reason.collective_timeout.means": (
        "One rank did not come to the operation: it failed earlier, is much slower, or took another path. The ranks "
        "that waited tell of it.",
        "有 rank 没有到达该操作：更早失败、过慢或走了不同的分支。报错的是等待的 rank。",
    ),
    "reason.collective_timeout.fix": (
        "Find the rank that is missing or the earliest error; if all are just slow, raise the timeout "
        "(actor_rollout_ref.nccl_timeout)",
        "请查找缺少的 rank 或最早的错误；如果只是慢，请增大超时（actor_rollout_ref.nccl_timeout）",
    ),
    "reason.peer_lost": ("a connection to another rank was closed", "与其他 rank 的连接被关闭"),
    "reason.peer_lost.means": (
        "The process at the other end died. This is what the survivors see; the cause is there.",
        "另一端的进程已死亡。这是幸存者看到的现象，原因在对端。",
    ),
    "reason.peer_lost.fix": ("Look for the rank or node that went first", "请查找最先消失的 rank 或节点"),
    "reason.connect_failed": ("ranks could not connect to each other", "各 rank 之间无法建立连接"),
    "reason.connect_failed.means": (
        "A connection between nodes was refused or timed out: the wrong network interface, a host name that resolves "
        "to 127.x, a firewall, or too many connections at once.",
        "节点之间的连接被拒绝或超时：网卡选错、主机名解析到 127.x、防火墙，或同时连接过多。",
    ),
    "reason.connect_failed.fix": (
        "Set GLOO_SOCKET_IFNAME, TP_SOCKET_IFNAME and HCCL_SOCKET_IFNAME to the nodes' interface, and check /etc/hosts",
        "请将 GLOO_SOCKET_IFNAME、TP_SOCKET_IFNAME、HCCL_SOCKET_IFNAME 设为节点的网卡，并检查 /etc/hosts",
    ),
    "reason.rendezvous_failed": ("the ranks did not all meet at the start", "启动时各 rank 未能全部会合"),
    "reason.rendezvous_failed.means": (
        "The store at MASTER_ADDR:MASTER_PORT was not reached by all ranks in time, or fewer came than the world size.",
        "并非所有 rank 都能及时连到 MASTER_ADDR:MASTER_PORT，或到达的数量少于 world size。",
    ),
    "reason.rendezvous_failed.fix": (
        "Look for a rank that failed before, and whether that address and port can be reached from each node",
        "请查找更早失败的 rank，并确认每个节点都能访问该地址与端口",
    ),
    "reason.interface_missing": ("the named network interface does not exist on a node", "某个节点上没有指定的网卡"),
    "reason.interface_missing.means": (
        "GLOO_SOCKET_IFNAME, HCCL_SOCKET_IFNAME or the like names an interface that a node does not have.",
        "GLOO_SOCKET_IFNAME、HCCL_SOCKET_IFNAME 等指定的网卡在某个节点上不存在。",
    ),
    "reason.interface_missing.fix": (
        "Set the name that all nodes have (`ip -br addr`), or per node before `ray start`",
        "请设置所有节点都有的网卡名（`ip -br addr`），或在 `ray start` 前按节点设置",
    ),
    "reason.address_in_use": ("a port is already in use", "端口已被占用"),
    "reason.address_in_use.means": (
        "Another process listens on the port that was chosen, an earlier attempt's among them.",
        "所选端口上已有其他进程监听，可能是更早一次尝试的进程。",
    ),
    "reason.address_in_use.fix": (
        "Submit again; if it stays, find the process (`ss -ltnp`) or choose another port",
        "请重新提交；如果持续出现，请查找该进程（`ss -ltnp`）或更换端口",
    ),
    "reason.nccl_error": ("NCCL failed", "NCCL 出错"),
    "reason.nccl_error.means": (
        "NCCL, on GPUs or as a layer below, reported an error; the first rank that did is the one to look at.",
        "NCCL（GPU 上或作为底层）报告错误；请关注最先报告的 rank。",
    ),
    "reason.nccl_error.fix": (
        "Look at the NCCL warning before it; NCCL_DEBUG=INFO tells more",
        "请查看它之前的 NCCL 警告；NCCL_DEBUG=INFO 可给出更多信息",
    ),
    "reason.download_failed": ("a download failed", "下载失败"),
    "reason.download_failed.means": (
        "A model, data set or file was to come from a server that cannot be reached from the node.",
        "模型、数据集或文件需要从节点无法访问的服务器获取。",
    ),
    "reason.download_failed.fix": (
        "Put the files on the nodes and set HF_HUB_OFFLINE=1, or give the nodes a way to that server",
        "请将文件放到节点上并设置 HF_HUB_OFFLINE=1，或让节点能访问该服务器",
    ),
    "reason.tracking_failed": ("the experiment tracker could not start or be reached", "实验跟踪服务无法启动或连接"),
    "reason.tracking_failed.means": (
        "wandb, swanlab, mlflow or the like did not come up in time, or refused the key.",
        "wandb、swanlab、mlflow 等未能及时启动，或拒绝了密钥。",
    ),
    "reason.tracking_failed.fix": (
        "Set its offline mode or take it out of trainer.logger; check the key and the network",
        "请设置其离线模式，或从 trainer.logger 中去掉；检查密钥和网络",
    ),
    "reason.hccl_timeout": ("a collective operation between NPUs timed out (HCCL)", "NPU 之间的集合通信超时（HCCL）"),
    "reason.hccl_timeout.means": (
        "A rank waited for another one that failed earlier, is slower or left the operation; seldom a bad link. The "
        "ranks that waited report EI0002.",
        "某个 rank 在等待另一个更早失败、更慢或没有参与该操作的 rank；少数情况是链路故障。等待的 rank 会报 EI0002。",
    ),
    "reason.hccl_timeout.fix": (
        "Find the earliest error of any rank, or the rank that does not report; if all are just slow, raise "
        "HCCL_EXEC_TIMEOUT",
        "请查找最早报错的 rank 或没有报错的 rank；如果只是慢，请增大 HCCL_EXEC_TIMEOUT",
    ),
    "reason.hccl_init_failed": ("the NPUs could not set up communication (HCCL)", "NPU 之间无法建立通信（HCCL）"),
    "reason.hccl_init_failed.means": (
        "Ranks did not find each other in time (EI0006), or the network of the devices or hosts is not right: "
        "interface, hccn.conf, a process that came late.",
        "各 rank 未能及时找到对方（EI0006），或设备、主机网络不正确：网卡、hccn.conf，或进程启动过晚。",
    ),
    "reason.hccl_init_failed.fix": (
        "Check HCCL_SOCKET_IFNAME and HCCL_IF_IP per node and hccn_tool of each device; raise HCCL_CONNECT_TIMEOUT "
        "if roles start at different times",
        "请检查每个节点的 HCCL_SOCKET_IFNAME、HCCL_IF_IP 与每个设备的 hccn_tool；如果各角色启动时间不同，请增大 "
        "HCCL_CONNECT_TIMEOUT",
    ),
    "reason.hccl_port_in_use": ("a port that HCCL wants is in use", "HCCL 要用的端口已被占用"),
    "reason.hccl_port_in_use.means": (
        "Several groups or jobs on one host use the same HCCL ports (EI0019, EJ0003), or two ranks share a device.",
        "同一主机上的多个通信域或作业使用相同的 HCCL 端口（EI0019、EJ0003），或两个 rank 共用一个设备。",
    ),
    "reason.hccl_port_in_use.fix": (
        "Set HCCL_HOST_SOCKET_PORT_RANGE and HCCL_NPU_SOCKET_PORT_RANGE to auto, or distinct HCCL_IF_BASE_PORT",
        "请将 HCCL_HOST_SOCKET_PORT_RANGE 与 HCCL_NPU_SOCKET_PORT_RANGE 设为 auto，或使用不同的 HCCL_IF_BASE_PORT",
    ),
    "reason.device_lost": ("an NPU was lost", "NPU 丢失"),
    "reason.device_lost.means": (
        "The device does not answer any more or fell off the bus (507xxx, heartbeat lost).",
        "设备不再响应或已从总线掉线（507xxx、心跳丢失）。",
    ),
    "reason.device_lost.fix": (
        "Look at npu-smi and the device's log on that node, reset the device; the next attempt leaves the node out",
        "请查看该节点的 npu-smi 与设备日志并复位设备；下一次尝试会排除该节点",
    ),
    "reason.device_error": ("an NPU reported an error", "NPU 报告错误"),
    "reason.device_error.means": (
        "The runtime or the driver reports that a device failed at a task; the code in the line says which.",
        "运行时或驱动报告设备执行任务失败；具体由该行的错误码说明。",
    ),
    "reason.device_error.fix": (
        "Look at plog and npu-smi of that node; if it comes again on the same device, have it tested",
        "请查看该节点的 plog 与 npu-smi；如果在同一设备上重复出现，请检测该设备",
    ),
    "reason.device_memory_fault": (
        "an NPU's memory has an uncorrectable fault (ECC)",
        "NPU 内存出现不可纠正的错误（ECC）",
    ),
    "reason.device_memory_fault.means": (
        "A bit error in the device's memory that cannot be corrected: hardware.",
        "设备内存出现无法纠正的位错误：硬件问题。",
    ),
    "reason.device_memory_fault.fix": (
        "Take the node out and have the card tested; the next attempt leaves it out",
        "请停用该节点并检测该卡；下一次尝试会排除该节点",
    ),
    "reason.device_in_use": ("a device is still held by another process", "设备仍被其他进程占用"),
    "reason.device_in_use.means": (
        "A process of an earlier run lives, or ended less than 10 s ago (EJ0001), and holds the device.",
        "更早一次运行的进程仍存在，或结束不到 10 秒（EJ0001），仍占用设备。",
    ),
    "reason.device_in_use.fix": (
        "End the process that npu-smi shows there; the next attempt waits until the device is free",
        "请结束 npu-smi 显示的进程；下一次尝试会等待设备空闲",
    ),
    "reason.aicore_error": ("a computation on the device failed (AI Core)", "设备上的计算出错（AI Core）"),
    "reason.aicore_error.means": (
        "A kernel raised an exception: an address out of range, a bad index, a kernel that ran too long, or a defect "
        "of the device.",
        "算子执行异常：地址越界、索引错误、执行超时，或设备缺陷。",
    ),
    "reason.aicore_error.fix": (
        "Look in plog for the kernel's name; if it comes again on another device, it is the model or the versions, "
        "else the device",
        "请在 plog 中查找算子名；如果在其他设备上也出现，则是模型或版本问题，否则是设备问题",
    ),
    "reason.stream_resources": ("an NPU has no stream or queue left", "NPU 的 stream 或队列已用尽"),
    "reason.stream_resources.means": (
        "Graph capture and many communicators use up the streams of a device; the message speaks of storage or memory.",
        "图捕获和大量通信域会用尽设备的 stream；错误信息却提到存储或内存。",
    ),
    "reason.stream_resources.fix": (
        "Lower the number of captured sizes, or set rollout.enforce_eager=True",
        "请减少图捕获的尺寸数量，或设置 rollout.enforce_eager=True",
    ),
    "reason.operator_failed": ("an operator refused its input or failed on an NPU", "NPU 算子拒绝输入或执行失败"),
    "reason.operator_failed.means": (
        "CANN's operator library found shapes, types or a workspace that it does not take (EZ…, 161xxx, 561xxx).",
        "CANN 算子库发现不支持的形状、类型或 workspace（EZ…、161xxx、561xxx）。",
    ),
    "reason.operator_failed.fix": (
        "Look at the operator's message in the log or plog; compare CANN and torch_npu with the stack",
        "请查看日志或 plog 中算子的信息；将 CANN 和 torch_npu 与 stack 对比",
    ),
    "reason.compile_failed": ("compiling a graph or an operator failed", "图或算子编译失败"),
    "reason.compile_failed.means": (
        "The graph or kernel compiler ended with an error (E1…, E4…, triton, inductor).",
        "图或算子编译器报错结束（E1…、E4…、triton、inductor）。",
    ),
    "reason.compile_failed.fix": (
        "Look at the first compile error; clear the compile cache, or switch graph mode off",
        "请查看第一个编译错误；清理编译缓存，或关闭图模式",
    ),
    "reason.checkpoint_missing": ("the checkpoint to go on from is not there", "要继续的检查点不存在"),
    "reason.checkpoint_missing.means": (
        "The folder does not exist on the node, or holds no checkpoint: mostly storage that nodes do not share.",
        "目录在节点上不存在，或其中没有检查点：多因存储未在节点间共享。",
    ),
    "reason.checkpoint_missing.fix": (
        "Put checkpoints on storage that all nodes share (trainer.default_local_dir), and check "
        "trainer.resume_from_path",
        "请将检查点放在所有节点共享的存储上（trainer.default_local_dir），并检查 trainer.resume_from_path",
    ),
    "reason.checkpoint_incomplete": ("the checkpoint is incomplete or broken", "检查点不完整或损坏"),
    "reason.checkpoint_incomplete.means": (
        "Files of some ranks or the metadata are missing, or a file was cut off while it was written.",
        "缺少部分 rank 的文件或元数据，或文件在写入时被截断。",
    ),
    "reason.checkpoint_incomplete.fix": (
        "Resume from an older complete step; npurun does so by itself. Metadata must lie on storage that all nodes "
        "share",
        "请从更早的完整步继续，npurun 会自动这样做。元数据必须位于所有节点共享的存储上",
    ),
    "reason.checkpoint_world_size": (
        "the checkpoint was saved by another number of ranks",
        "检查点由不同数量的 rank 保存",
    ),
    "reason.checkpoint_world_size.means": (
        "FSDP shards are read only by as many ranks as wrote them.",
        "FSDP 分片只能由写入时相同数量的 rank 读取。",
    ),
    "reason.checkpoint_world_size.fix": (
        "Resume on the same number of devices, or convert the checkpoint",
        "请用相同数量的设备继续，或转换检查点",
    ),
    "reason.checkpoint_mismatch": ("the checkpoint does not fit the model or the settings", "检查点与模型或设置不匹配"),
    "reason.checkpoint_mismatch.means": (
        "Keys or shapes differ: another model, layout or version saved it, or it lacks what load_contents asks for.",
        "键或形状不同：由其他模型、布局或版本保存，或缺少 load_contents 要求的内容。",
    ),
    "reason.checkpoint_mismatch.fix": (
        "Resume with the model and settings that saved it, or start anew in another folder",
        "请用保存时的模型和设置继续，或在另一个目录重新开始",
    ),
    "reason.checkpoint_save_failed": ("a checkpoint could not be written", "无法写入检查点"),
    "reason.checkpoint_save_failed.means": (
        "Writing the files failed: storage that is full, slow or gone. The step is trained, but not saved.",
        "写文件失败：存储已满、过慢或不可用。该步已训练但未保存。",
    ),
    "reason.checkpoint_save_failed.fix": (
        "Look at the storage of trainer.default_local_dir; the next attempt goes on from the one before",
        "请检查 trainer.default_local_dir 所在的存储；下一次尝试会从前一个检查点继续",
    ),
    "reason.disk_full": ("a disk or quota is full", "磁盘或配额已满"),
    "reason.disk_full.means": (
        "No space is left where something is written: checkpoints, Ray's temporary folder, caches or logs.",
        "写入位置没有剩余空间：检查点、Ray 临时目录、缓存或日志。",
    ),
    "reason.disk_full.fix": (
        "Free space on the file system that the line names; set trainer.max_actor_ckpt_to_keep, or move Ray's "
        "--temp-dir",
        "请清理该行指出的文件系统；设置 trainer.max_actor_ckpt_to_keep，或移动 Ray 的 --temp-dir",
    ),
    "reason.permission_denied": ("a file or folder may not be written or read", "没有读写文件或目录的权限"),
    "reason.permission_denied.means": (
        "The user that Ray runs as has no right to it, or the file system is read-only.",
        "Ray 的运行用户没有权限，或文件系统只读。",
    ),
    "reason.permission_denied.fix": (
        "Give that user the right on every node, or choose another folder",
        "请在每个节点上授予该用户权限，或选择其他目录",
    ),
    "reason.stale_file_handle": (
        "a network file system lost its files (stale handle)",
        "网络文件系统句柄失效（stale）",
    ),
    "reason.stale_file_handle.means": (
        "The server was restarted or the folder was replaced while the node had it mounted.",
        "节点挂载期间，服务器重启或目录被替换。",
    ),
    "reason.stale_file_handle.fix": ("Mount it again on that node", "请在该节点重新挂载"),
    "reason.storage_error": ("storage failed while it was read or written", "存储读写失败"),
    "reason.storage_error.means": (
        "An input/output error, or a network file system that does not answer.",
        "输入输出错误，或网络文件系统无响应。",
    ),
    "reason.storage_error.fix": ("Look at the mount and the kernel log of that node", "请检查该节点的挂载和内核日志"),
    "reason.file_missing": ("a file is not there", "文件不存在"),
    "reason.file_missing.means": (
        "A program was told to read a file that does not exist on its node.",
        "程序要读取的文件在其节点上不存在。",
    ),
    "reason.file_missing.fix": (
        "Put the file at the same path on every node, or correct the path",
        "请在每个节点的同一路径放置该文件，或更正路径",
    ),
    "reason.rollout_engine_died": ("the rollout engine died", "推理引擎已死亡"),
    "reason.rollout_engine_died.means": (
        "The engine's own process (vLLM EngineCore, SGLang scheduler) ended, and requests to it fail. Its first "
        "error stands above.",
        "引擎自己的进程（vLLM EngineCore、SGLang scheduler）结束，对它的请求失败。第一个错误在日志上方。",
    ),
    "reason.rollout_engine_died.fix": (
        "Look for the engine's first error in the log; without one, look for an out-of-memory kill of its process",
        "请查找引擎的第一个错误；如果没有，请查看其进程是否被 OOM 结束",
    ),
    "reason.rollout_start_failed": ("the rollout engine could not start", "推理引擎无法启动"),
    "reason.rollout_start_failed.means": (
        "The engine ended while it was being set up; the cause stands in its own lines above this one.",
        "引擎在初始化期间结束；原因在此行上方引擎自己的日志中。",
    ),
    "reason.rollout_start_failed.fix": (
        "Look for the engine's first error above; without one, in the worker's log on that node",
        "请查找上方引擎的第一个错误；如果没有，请查看该节点上的 worker 日志",
    ),
    "reason.rollout_timeout": ("the rollout engine did not answer in time", "推理引擎未及时应答"),
    "reason.rollout_timeout.means": (
        "A call to the engine timed out: a very long step, a blocked engine process, or a rank of it that hangs.",
        "对引擎的调用超时：单步过长、引擎进程阻塞，或其某个 rank 挂起。",
    ),
    "reason.rollout_timeout.fix": (
        "Raise VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS or VLLM_RPC_TIMEOUT if steps are that long; else look for the rank "
        "that hangs",
        "如果单步确实很长，请增大 VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS 或 VLLM_RPC_TIMEOUT；否则查找挂起的 rank",
    ),
    "reason.sleep_mode_unavailable": (
        "the rollout engine cannot release memory: sleep mode is not available",
        "推理引擎无法释放内存：sleep mode 不可用",
    ),
    "reason.sleep_mode_unavailable.means": (
        "The engine was built without the allocator that sleep mode needs, or a setting excludes it.",
        "引擎构建时没有 sleep mode 所需的分配器，或有设置与其冲突。",
    ),
    "reason.sleep_mode_unavailable.fix": (
        "Install the engine with its custom kernels, or set rollout.free_cache_engine=False",
        "请安装带自定义算子的引擎，或设置 rollout.free_cache_engine=False",
    ),
    "reason.sleep_wake_failed": ("the rollout engine failed to sleep or to wake up", "推理引擎 sleep 或 wake up 失败"),
    "reason.sleep_wake_failed.means": (
        "Giving memory back to training, or taking it again, failed in the allocator.",
        "分配器在把内存交还训练或重新取回时失败。",
    ),
    "reason.sleep_wake_failed.fix": (
        "Lower rollout.gpu_memory_utilization if memory is short at wake-up; else see whether the next attempt "
        "repeats it",
        "如果唤醒时内存不足，请减小 rollout.gpu_memory_utilization；否则观察下一次尝试是否重复",
    ),
    "reason.weight_sync_failed": (
        "the new weights could not be given to the rollout engine",
        "新权重无法同步到推理引擎",
    ),
    "reason.weight_sync_failed.means": (
        "The transfer between trainer and engine failed or timed out.",
        "训练器与引擎之间的传输失败或超时。",
    ),
    "reason.weight_sync_failed.fix": (
        "Look for the first error of either side; see whether the next attempt repeats it",
        "请查找任一方的第一个错误；观察下一次尝试是否重复",
    ),
    "reason.weight_bucket_too_small": (
        "a weight is larger than the bucket that sends it",
        "某个权重大于传输用的 bucket",
    ),
    "reason.weight_bucket_too_small.means": (
        "One tensor, mostly the embedding in fp32, exceeds update_weights_bucket_megabytes.",
        "单个张量（多为 fp32 的 embedding）超过 update_weights_bucket_megabytes。",
    ),
    "reason.weight_bucket_too_small.fix": (
        "Raise rollout.checkpoint_engine.update_weights_bucket_megabytes to the next power of two above the tensor",
        "请将 rollout.checkpoint_engine.update_weights_bucket_megabytes 增大到大于该张量的下一个 2 的幂",
    ),
    "reason.no_trajectories": ("no trajectory was left to train on", "没有可用于训练的轨迹"),
    "reason.no_trajectories.means": (
        "Every answer of the batch failed on its way: in the reward function, the agent loop or the engine. The "
        "cause stands far above.",
        "该批的所有回答都在途中失败：奖励函数、agent loop 或引擎。原因在日志上方较远处。",
    ),
    "reason.no_trajectories.fix": (
        "Look for the first error of the agent loop or reward workers above",
        "请查找上方 agent loop 或奖励 worker 的第一个错误",
    ),
}
