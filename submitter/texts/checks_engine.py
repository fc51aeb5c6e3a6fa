"""Texts of the checks of the rollout engine: id -> (English, Chinese). An `.about` begins with its title."""

TEXTS: dict[str, tuple[str, str]] = {
    "NR235": (
        "{key}=False does not reach vLLM: {limit} leaves out every False, and vLLM's own default for {name} is True",
        "{key}=False 不会传给 vLLM：{limit} 会略去所有 False，而 vLLM 的 {name} 默认为 True",
    ),
    "NR235.fix": (
        "Set {instead}, which vLLM reads as off, or drop the key",
        "请设置 {instead}（vLLM 会理解为关闭），或去掉该键",
    ),
    "NR235.about": (
        "A False that vLLM is not told of. verl hands its settings to vLLM as command line flags and, but for 0.9.1, "
        "leaves out those that are False; prefix caching and chunked prefill then stay on. No problem where the "
        "default is what you want; chunked prefill of the rollout itself is NR224's.",
        "vLLM 得不到的 False。verl 把设置转换为 vLLM 的命令行参数，除 0.9.1 外会略去值为 False 的项，"
        "前缀缓存和分块 prefill 因此保持开启。默认值正是所需时没有问题；rollout 自身的分块 prefill 由 NR224 检查。",
    ),
    "NR320": (
        "{key}={value}, but verl's configuration of one-step-off training turns it off and says that weights are not "
        "handed over otherwise",
        "{key}={value}，而 verl 的 one-step-off 训练配置将其关闭，并说明否则无法同步权重",
    ),
    "NR320.fix": ("Drop it, or set it to {limit}", "请去掉它，或设为 {limit}"),
    "NR320.about": (
        "A rollout on nodes of its own that frees its cache. There is nothing to make room for: the NPUs train "
        "nothing. In one-step-off training verl wants free_cache_engine off. No problem where rollout and training "
        "share their NPUs.",
        "独占节点的 rollout 释放缓存。这些 NPU 不参与训练，无需腾出内存。verl 的 one-step-off 训练要求关闭 "
        "free_cache_engine。rollout 与训练共用 NPU 时没有问题。",
    ),
    "NR301": (
        "{name}={value}, but the rollout's sleep mode is on: vLLM-Ascend's memory pool refuses to start with "
        '"Expandable segments are not compatible with memory pool"',
        "{name}={value}，而 rollout 的 sleep mode 处于开启状态：vLLM-Ascend 的内存池会以 "
        '"Expandable segments are not compatible with memory pool" 拒绝启动',
    ),
    "NR301.fix": (
        "{do}; verl 0.8.0 and later switch it on "
        "themselves where it helps. Without sleep mode: +actor_rollout_ref.rollout.enable_sleep_mode=False",
        "{do}；verl 0.8.0 及以后会在合适之处自行开启它。"
        "如不使用 sleep mode：+actor_rollout_ref.rollout.enable_sleep_mode=False",
    ),
    "NR301.rest": (
        "Take expandable_segments out of {name}, so that {rest} is left",
        "请从 {name} 中去掉 expandable_segments，保留 {rest}",
    ),
    "NR301.nothing": ("Drop {name}", "请去掉 {name}"),
    "NR301.about": (
        "Expandable segments with sleep mode. vLLM's sleep mode gives the rollout's memory back to training through a "
        "pool of its own, which does not work with torch_npu's expandable segments: the engine ends on every rank as "
        "it starts. No problem where the rollout has sleep mode off, or with vLLM-Ascend's rl_config.enabled.",
        "sleep mode 与 expandable_segments 同时使用。vLLM 的 sleep mode 通过自己的内存池把 rollout 的显存交还给训练，"
        "它与 torch_npu 的 expandable_segments 不兼容：引擎会在每个 rank 上启动即退出。rollout 关闭 sleep mode，"
        "或使用 vLLM-Ascend 的 rl_config.enabled 时没有问题。",
    ),
    "NR302": (
        "{name}={value}, but the rollout captures graphs (enforce_eager false: {eager}): torch_npu ends with "
        '"Do not support TASK_QUEUE_ENABLE = 2 during NPU graph capture"',
        "{name}={value}，而 rollout 会捕获图（enforce_eager 为 false：{eager}）：torch_npu 会以 "
        '"Do not support TASK_QUEUE_ENABLE = 2 during NPU graph capture" 结束',
    ),
    "NR302.default": ("verl's default", "verl 的默认值"),
    "NR302.fix": (
        "Set {name} to 1, or actor_rollout_ref.rollout.enforce_eager=True",
        "把 {name} 设为 1，或设置 actor_rollout_ref.rollout.enforce_eager=True",
    ),
    "NR302.about": (
        "The second level of torch_npu's task queue with graphs. Level 2 moves work that a graph must record to "
        "another thread, so torch_npu refuses to capture; the rollout ends after its weights are loaded. No problem "
        "with enforce_eager=True or cudagraph_mode NONE.",
        "torch_npu 任务队列的第 2 级与图模式同时使用。第 2 级会把图需要记录的工作移到另一个线程，"
        "因此 torch_npu 拒绝捕获图；"
        "rollout 会在加载权重之后结束。使用 enforce_eager=True 或 cudagraph_mode 为 NONE 时没有问题。",
    ),
    "NR303": (
        "{name}={value}, but the rollout captures graphs (enforce_eager false: {eager}): vLLM-Ascend ends with "
        '"ACL graph is incompatible with ASCEND_LAUNCH_BLOCKING=1"',
        "{name}={value}，而 rollout 会捕获图（enforce_eager 为 false：{eager}）：vLLM-Ascend 会以 "
        '"ACL graph is incompatible with ASCEND_LAUNCH_BLOCKING=1" 结束',
    ),
    "NR303.fix": (
        "Take {name} out of env; to debug with it, set actor_rollout_ref.rollout.enforce_eager=True",
        "从 env 中去掉 {name}；如需用它调试，请设置 actor_rollout_ref.rollout.enforce_eager=True",
    ),
    "NR303.about": (
        "Blocking operators with graphs. The flag makes every operator wait for its end, which cannot be recorded in "
        "a graph; vLLM-Ascend refuses both together as the engine starts. No problem with enforce_eager=True.",
        "算子同步执行与图模式同时使用。该变量使每个算子等待执行完成，这无法记录到图中；"
        "vLLM-Ascend 在引擎启动时拒绝二者并用。"
        "使用 enforce_eager=True 时没有问题。",
    ),
    "NR304": (
        "{key}={value}: verl has no such rollout for NPUs (possible: {limit})",
        "{key}={value}：verl 在 NPU 上没有这种 rollout（可用：{limit}）",
    ),
    "NR304.fix": ("Use {limit}", "请使用 {limit}"),
    "NR304.about": (
        "A rollout that verl does not have. Since 0.7.1 every rollout runs as a server: mode sync and the names hf, "
        "naive and vllm_rollout are gone, and TensorRT-LLM is for other hardware. No problem for a rollout that a "
        "module of your own registers (VERL_USE_EXTERNAL_MODULES).",
        "verl 中不存在的 rollout。自 0.7.1 起，所有 rollout 都以服务方式运行：sync 模式以及 hf、naive、"
        "vllm_rollout 等名字"
        "都已移除，TensorRT-LLM 只用于其他硬件。由自己的模块（VERL_USE_EXTERNAL_MODULES）注册的 rollout 没有问题。",
    ),
    "NR305": (
        "vLLM-Ascend {release} does not read additional_config.{name}, or will refuse it (read by: {limit})",
        "vLLM-Ascend {release} 不读取 additional_config.{name}，或以后会拒绝它（读取它的版本：{limit}）",
    ),
    "NR305.fix": ("Drop it, or use its successor or nearest: {instead}", "去掉它，或改用其后继或最接近的键：{instead}"),
    "NR305.about": (
        "Options of vLLM-Ascend that its release does not know. Most unknown keys of additional_config are passed "
        "over without a word, so that what is asked for does not happen; some old names and every unknown key of "
        "rl_config and eplb_config end the engine. A hint: still read here, but gone in the next release.",
        "所用 vLLM-Ascend 版本不认识的选项。additional_config 中的未知键大多会被静默忽略，所要求的功能并不会生效；"
        "部分旧名字，以及 rl_config 和 eplb_config 中的任何未知键，会使引擎退出。级别为 hint 时：当前版本仍读取，"
        "下一版本将移除。",
    ),
    "NR306": (
        "compilation_config.{name}={value} is none that works on NPUs ({limit})",
        "compilation_config.{name}={value} 在 NPU 上不可用（{limit}）",
    ),
    "NR306.fix": ("Use one of: {limit}", "请使用其中之一：{limit}"),
    "NR306.about": (
        "The graph mode of the rollout. vLLM ends with an unknown cudagraph_mode; a compilation mode other than 0 and "
        "3 makes vLLM-Ascend switch its graphs off, with one line in a log, and the rollout is slow.",
        "rollout 的图模式。未知的 cudagraph_mode 会使 vLLM 退出；编译模式不是 0 或 3 时，vLLM-Ascend 会关闭图模式，"
        "只在日志中留下一行，rollout 会变慢。",
    ),
    "NR307": (
        "graphs of {value} sequences are captured (of {count} sizes), but max_num_seqs is {limit}: no decode step "
        "ever has so many",
        "捕获了 {value} 个序列的图（共 {count} 个尺寸），但 max_num_seqs 为 {limit}：decode 步骤不会有这么多序列",
    ),
    "NR307.fix": (
        "Leave the sizes above {limit} out: each captured size costs start-up time, memory and device streams "
        '(too many end with "Alloc sq cq fail")',
        '去掉大于 {limit} 的尺寸：每个捕获的尺寸都占用启动时间、显存和设备流（过多时会报 "Alloc sq cq fail"）',
    ),
    "NR307.about": (
        "Captured graph sizes that are never used. A graph is captured for each size; one larger than max_num_seqs "
        "only costs memory, start-up time and the device's limited streams.",
        "永远用不到的图尺寸。每个尺寸都会捕获一张图；大于 max_num_seqs 的尺寸只会占用显存、启动时间和有限的设备流。",
    ),
    "NR308": (
        "{key}={value} overrides {own}={limit}: verl computes with the one, the engine runs with the other",
        "{key}={value} 覆盖了 {own}={limit}：verl 按后者计算，引擎却按前者运行",
    ),
    "NR308.fix": ("Set {own} only, and drop the engine_kwargs key", "只设置 {own}，并去掉 engine_kwargs 中的键"),
    "NR308.about": (
        "One option of the engine given twice. What stands in engine_kwargs.vllm comes after verl's own arguments and "
        "wins, while verl goes on computing placement and lengths with its own key. No problem where both are equal.",
        "引擎的同一选项给了两次。engine_kwargs.vllm 中的值排在 verl 自己的参数之后并生效，而 verl 仍按自己的键计算"
        "放置和长度。两者相等时没有问题。",
    ),
    "NR309": (
        "the LoRA rank {value} is above {limit}, the largest that vLLM serves: verl refuses it at its start",
        "LoRA 秩 {value} 大于 vLLM 支持的最大值 {limit}：verl 启动时会拒绝",
    ),
    "NR309.fix": (
        "Use at most {limit}, or merge the adapter into the weights (actor_rollout_ref.model.lora.merge=True)",
        "最多使用 {limit}，或把适配器合并到权重中（actor_rollout_ref.model.lora.merge=True）",
    ),
    "NR309.about": (
        "LoRA ranks that vLLM cannot serve. verl rounds the rank up to the next that vLLM has buffers for, and raises "
        "above the largest. No problem with lora.merge, where the rollout gets whole weights.",
        "vLLM 不支持的 LoRA 秩。verl 会把秩向上取到 vLLM 有缓冲区的下一个值，超过最大值则报错。"
        "使用 lora.merge 时 rollout 得到完整权重，没有问题。",
    ),
}
