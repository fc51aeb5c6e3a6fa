"""Texts of the checks of the algorithm, rewards and trackers: id -> (English, Chinese). An `.about` begins "
"with its title."""

TEXTS: dict[str, tuple[str, str]] = {
    "NR321": (
        "{estimator} compares the responses to one prompt, but rollout.n is {value}: there is nothing to compare with",
        "{estimator} 比较同一提示的多个回答，而 rollout.n 为 {value}：没有可比较的对象",
    ),
    "NR321.fix": (
        "Set actor_rollout_ref.rollout.n to at least {limit} (published runs: 5 to 16)",
        "把 actor_rollout_ref.rollout.n 设为至少 {limit}（公开的设置为 5 到 16）",
    ),
    "NR321.about": (
        "Group estimators with one response per prompt. GRPO and its relatives subtract the group's mean; of one "
        "response verl takes 0 as the mean, so that rewards go in raw, or the advantage is 0 and nothing is learnt; "
        "grpo_passk ends with an error. verl's default of rollout.n is 1. No problem for gae, remax and "
        "reinforce_plus_plus.",
        "每个提示只有一个回答的组估计器。GRPO 及其同类会减去组内均值；只有一个回答时，verl 取均值为 0，"
        "奖励直接作为优势，"
        "或优势恒为 0 而学不到任何东西；grpo_passk 会报错结束。rollout.n 在 verl 中默认为 1。gae、remax 和 "
        "reinforce_plus_plus 没有问题。",
    ),
    "NR322": (
        "the KL to the reference model counts twice: in the loss (coefficient {loss}) and in the reward ({reward})",
        "与参考模型的 KL 被计算了两次：在 loss 中（系数 {loss}）和在奖励中（{reward}）",
    ),
    "NR322.fix": (
        "Keep one: for GRPO usually actor.use_kl_loss=True with algorithm.use_kl_in_reward=False",
        "只保留一个：GRPO 通常为 actor.use_kl_loss=True、algorithm.use_kl_in_reward=False",
    ),
    "NR322.about": (
        "A KL term in the loss and in the reward. verl only prints a notice. No problem where both are meant.",
        "loss 和奖励中都有 KL 项。verl 只会打印一条提示。如果确实需要两者，则没有问题。",
    ),
    "NR323": (
        "{key}={value}, but {switch} is on: the reference model is computed in every step, and its term is nothing or "
        "of the wrong sign",
        "{key}={value}，而 {switch} 已开启：每一步都会计算参考模型，但该项为零或符号相反",
    ),
    "NR323.fix": (
        "Set {switch}=False, or a coefficient above {limit}",
        "请设置 {switch}=False，或使用大于 {limit} 的系数",
    ),
    "NR323.about": (
        "A KL term without weight. The reference model costs memory and a forward pass per step, and its term is "
        "multiplied by the coefficient. No problem if only the metric is wanted.",
        "没有权重的 KL 项。参考模型占用显存，且每一步都要前向计算，而该项要乘以系数。如果只想要这个指标，则没有问题。",
    ),
    "NR324": (
        "{value} keys of the reference model are set, but no KL term is on: verl does not start a reference model",
        "设置了参考模型的 {value} 个键，但没有开启 KL 项：verl 不会启动参考模型",
    ),
    "NR324.fix": (
        "Drop them, or set actor_rollout_ref.actor.use_kl_loss=True",
        "去掉它们，或设置 actor_rollout_ref.actor.use_kl_loss=True",
    ),
    "NR324.about": (
        "Settings of a reference model that is never built. verl builds one for actor.use_kl_loss or "
        "algorithm.use_kl_in_reward only.",
        "从未构建的参考模型的设置。verl 只在 actor.use_kl_loss 或 algorithm.use_kl_in_reward 开启时构建参考模型。",
    ),
    "NR325": (
        "this job trains a critic (adv_estimator {estimator}), but {asked} is {value}, which no node can use",
        "该作业会训练 critic（adv_estimator 为 {estimator}），而 {asked} 为 {value}，任何节点都无法使用",
    ),
    "NR325.fix": (
        "For GRPO set algorithm.adv_estimator=grpo (verl's default is gae); for PPO set critic.model.path and leave "
        "critic.enable alone",
        "GRPO 请设置 algorithm.adv_estimator=grpo（verl 默认为 gae）；PPO 请设置 critic.model.path，"
        "且不要设置 critic.enable",
    ),
    "NR325.about": (
        "GAE and its critic. gae is verl's default estimator and trains a critic whose default path is a placeholder "
        "that no node has; a job that forgets adv_estimator ends there, minutes after its start. No problem with "
        "distillation alone.",
        "GAE 及其 critic。gae 是 verl 的默认估计器，它会训练一个 critic，而 critic 的默认路径是各节点都没有的占位符；"
        "忘记设置 adv_estimator 的作业会在启动几分钟后因此结束。仅做蒸馏时没有问题。",
    ),
    "NR326": (
        "the file of the reward function, {value}: {why}",
        "奖励函数的文件 {value}：{why}",
    ),
    "NR326.fix": (
        "Name a file that exists on every node by its whole path, or put it into runtime_env.working_dir and name it "
        "relative to that",
        "请用完整路径写明各节点上都有的文件，或把它放入 runtime_env.working_dir 并写相对于它的路径",
    ),
    "NR326.about": (
        "The file of custom_reward_function. verl loads it when the first workers are up, minutes after the start. A "
        "relative path counts from the job's working_dir. Whole paths are the nodes' and are looked at only where "
        "this machine has them, too.",
        "custom_reward_function 的文件。verl 在第一批 worker 启动之后（启动几分钟后）才加载它。"
        "相对路径从作业的 working_dir "
        "算起。完整路径属于各节点，仅当本机也有该路径时才会检查。",
    ),
    "NR326.absent": ("there is no such file", "没有这个文件"),
    "NR326.relative": ("it is relative to a folder on the node", "它是相对于节点上某个目录的路径"),
    "NR326.no_source": ("it is no regular file of source text", "它不是普通的源代码文件"),
    "NR326.unknown": (
        "the reward function {path} lies on the nodes; run the check where the path can be read to see it checked",
        "奖励函数 {path} 位于节点上；请在可读取该路径的机器上运行检查",
    ),
    "NR327": (
        "{limit} defines no {value}; the nearest name in it: {nearest}",
        "{limit} 中没有定义 {value}；其中最接近的名字：{nearest}",
    ),
    "NR327.far": (
        "{limit} defines no {value}",
        "{limit} 中没有定义 {value}",
    ),
    "NR327.fix": (
        "Set the custom_reward_function name to a function of the file, or define it (verl's default: compute_score)",
        "请把 custom_reward_function 的 name 设为该文件中的函数，或定义它（verl 默认为 compute_score）",
    ),
    "NR327.about": (
        "The name of the reward function in its file. The file is parsed here, not imported. No problem where the "
        "file binds the name in a way that only shows when it runs: such files are left alone.",
        "奖励函数在其文件中的名字。这里只解析文件，不导入它。如果名字要运行时才能看出，则不检查该文件。",
    ),
    "NR328": ("{what}", "{what}"),
    "NR328.null": (
        "{name} is null, and nothing else names the function: the old section custom_reward_function, which is set, "
        "takes the new one's place whole",
        "{name} 为 null，且没有其他地方给出函数名：已设置的旧部分 custom_reward_function 会整体取代新的部分",
    ),
    "NR328.lost": (
        "{key} is {value}, and the old section custom_reward_function takes its place whole ({old})",
        "{key} 为 {value}，而旧的 custom_reward_function 部分会整体取代它（{old}）",
    ),
    "NR328.fix": (
        "Use reward.custom_reward_function.path and .name only",
        "只使用 reward.custom_reward_function.path 和 .name",
    ),
    "NR328.about": (
        "The old and the new section of the reward function. verl moves custom_reward_function over "
        "reward.custom_reward_function as soon as one of its keys is set: without its name an assertion ends the "
        "workers (the default compute_score belongs to the new section), and the new section's values are lost.",
        "奖励函数的新旧两个部分。只要设置了 custom_reward_function 的任一键，verl 就用它整体取代 "
        "reward.custom_reward_function：没有 name 时断言失败（默认的 compute_score 属于新的部分），"
        "新部分的值也会丢失。",
    ),
    "NR329": (
        "there is no reward manager {value}; verl has {limit}, the nearest is {nearest}",
        "没有名为 {value} 的奖励管理器；verl 有 {limit}，最接近的是 {nearest}",
    ),
    "NR329.far": (
        "there is no reward manager {value}; verl has {limit}",
        "没有名为 {value} 的奖励管理器；verl 有 {limit}",
    ),
    "NR329.fix": ("Use one of {limit}", "请使用其中之一：{limit}"),
    "NR329.about": (
        "The name of the reward manager. The managers prime and batch are of an older reward path that the trainers "
        "no longer call. No problem (a warning) where a module of your own registers the name.",
        "奖励管理器的名字。prime 和 batch 属于训练器已不再调用的旧路径。"
        "由自己的模块注册该名字时没有问题（级别为警告）。",
    ),
    "NR330": (
        "{key}={value} (sensible: {limit})",
        "{key}={value}（合理范围：{limit}）",
    ),
    "NR330.fix": ("Correct the value: {limit}", "请改正该值：{limit}"),
    "NR330.about": (
        "Numbers of the algorithm that cannot be meant. An error where torch, vLLM or verl refuse them (a negative "
        "learning rate, top_p 0, temperature 0 in training), a warning where training does nothing or the wrong "
        "thing (no epochs, clip_ratio_low above clip_ratio_high).",
        "明显不合理的算法数值。torch、vLLM 或 verl 会拒绝的为错误（负学习率、top_p 为 0、训练温度为 0），"
        "训练无效或方向错误的为警告（没有 epoch、clip_ratio_low 大于 clip_ratio_high）。",
    ),
    "NR331": (
        "the learning rate warms up for {value}, but training ends at {limit}",
        "学习率预热为 {value}，而训练在 {limit} 结束",
    ),
    "NR331.fix": (
        "Make optim.lr_warmup_steps (or its ratio) smaller than the total",
        "请让 optim.lr_warmup_steps（或其比例）小于总步数",
    ),
    "NR331.about": (
        "A warm-up that is longer than training. Megatron's scheduler asserts that it is shorter; with FSDP the "
        "learning rate is never reached. Only looked at where trainer.total_training_steps is given.",
        "比训练还长的预热。Megatron 的调度器断言它更短；使用 FSDP 时学习率永远达不到设定值。"
        "仅在给出 trainer.total_training_steps 时检查。",
    ),
    "NR332": ("{what}", "{what}"),
    "NR332.unread": (
        "algorithm.filter_groups.enable is True, but this trainer of verl {verl} does not read it: nothing is filtered",
        "algorithm.filter_groups.enable 为 True，但 verl {verl} 的这个训练器不读取它：不会过滤任何分组",
    ),
    "NR332.metric": (
        "algorithm.filter_groups.enable is True without {metric}: verl does not know what to filter by",
        "algorithm.filter_groups.enable 为 True，但没有 {metric}：verl 不知道按什么过滤",
    ),
    "NR332.pool": (
        "algorithm.filter_groups.enable is True, and the reward model shares the trainer's NPUs: groups are filtered "
        "before its scores are there",
        "algorithm.filter_groups.enable 为 True，而奖励模型与训练器共用 NPU：过滤分组时还没有它的分数",
    ),
    "NR332.fix": ("{do}", "{do}"),
    "NR332.do_unread": (
        "Take the trainer recipe.dapo.main_dapo, or drop algorithm.filter_groups",
        "请使用训练器 recipe.dapo.main_dapo，或去掉 algorithm.filter_groups",
    ),
    "NR332.do_metric": (
        "Set {metric}, for instance to acc or score, or algorithm.filter_groups.enable=False",
        "请设置 {metric}，例如 acc 或 score，或设置 algorithm.filter_groups.enable=False",
    ),
    "NR332.do_pool": (
        "Set {pool}=True, or algorithm.filter_groups.enable=False",
        "请设置 {pool}=True，或设置 algorithm.filter_groups.enable=False",
    ),
    "NR332.about": (
        "DAPO's group filtering. Before verl 0.9.0 only the DAPO recipe's own trainer reads it, and main_ppo passes "
        "over it; since 0.9.0 the v1 trainer does, needs a metric, and a reward that is known as soon as a response "
        "is.",
        "DAPO 的分组过滤。verl 0.9.0 之前只有 DAPO recipe 自己的训练器读取它，main_ppo 会忽略；"
        "自 0.9.0 起由 v1 训练器读取，"
        "需要 metric，并且奖励须在回答生成后即可得到。",
    ),
    "NR333": (
        "{key}={value} needs {limit}",
        "{key}={value} 需要 {limit}",
    ),
    "NR333.fix": ("Set or choose: {limit}", "请设置或选择：{limit}"),
    "NR333.about": (
        "The correction of differences between rollout and training. It needs the rollout's own log-probabilities "
        "(off by default before verl 0.9.0): bypass mode ends without them, weights and rejection are silently not "
        "applied; rejection needs a threshold and known names.",
        "rollout 与训练差异的校正。它需要 rollout 自己的对数概率（verl 0.9.0 之前默认关闭）："
        "没有时 bypass 模式会报错结束，"
        "权重和拒绝则静默地不生效；拒绝采样需要阈值和已知的名字。",
    ),
    "NR334": (
        "{key}={value} needs {limit}",
        "{key}={value} 需要 {limit}",
    ),
    "NR334.fix": ("Set {limit}", "请设置 {limit}"),
    "NR334.about": (
        "Replay of expert routes. R3 takes the routes from the rollout, which must return them (vLLM 0.22 or later "
        "for verl 0.9.1); R2 records them itself and goes with neither that nor bypass mode; since 0.8.0 the mode is "
        "read below the engine's own section, megatron or veomni.",
        "专家路由的回放。R3 使用 rollout 返回的路由（verl 0.9.1 需要 vLLM 0.22 或以后）；R2 自己记录路由，"
        "不能与此或 bypass "
        "模式同用；自 0.8.0 起，模式从引擎自己的部分（megatron 或 veomni）读取。",
    ),
    "NR335": (
        "{value} goes with {limit}",
        "{value} 应与 {limit} 一起使用",
    ),
    "NR335.fix": ("Set {limit}", "请设置 {limit}"),
    "NR335.about": (
        "What a loss or an estimator needs beside itself. gdpo asserts its reward keys, dro, clip_cov and kl_cov a "
        "positive coefficient. A hint: gspo is defined by the mean over sequences; verl up to 0.9.0 takes it whatever "
        "loss_agg_mode says, 0.9.1 takes what is given.",
        "loss 或估计器所需的其他设置。gdpo 断言其奖励键，dro、clip_cov 和 kl_cov 断言正的系数。级别为 hint 时："
        "gspo 由序列均值定义；verl 0.9.0 及以前无论 loss_agg_mode 为何都使用它，0.9.1 则使用给定的值。",
    ),
    "NR336": (
        "no time limit is seen for the reward ({value}): the {manager} manager waits for ever for one answer's score",
        "没有看到奖励的时间限制（{value}）：{manager} 管理器会无限期等待某个回答的得分",
    ),
    "NR336.fix": (
        "Bound it in the function (asyncio.wait_for, a subprocess with a timeout), mind regular expressions and "
        "symbolic maths; npurun's heartbeat tells a run that stands still",
        "请在函数中限制时间（asyncio.wait_for、带超时的子进程），注意正则表达式和符号计算；"
        "npurun 的心跳会指出停滞的运行",
    ),
    "NR336.about": (
        "Reward functions that may never end. verl's managers do not bound the time of a score; one degenerate answer "
        "can stop a run with idle NPUs, which looks like a hang of the network. No problem where the function bounds "
        "itself in a way that its text does not show.",
        "可能永不结束的奖励函数。verl 的管理器不限制打分时间；一个异常回答就能让运行停滞、NPU 空闲，看起来像网络卡死。"
        "如果函数以文本中看不出的方式限制了时间，则没有问题。",
    ),
    "NR337": (
        "the logger {value} has neither a login nor an offline mode: on a node without one it waits, then ends the "
        "trainer (one of these is needed: {limit})",
        "日志后端 {value} 既没有登录信息也没有离线模式：在没有登录的节点上，它会等待，"
        "然后结束训练器（需要其中之一：{limit}）",
    ),
    "NR337.fix": (
        "Name the key under secrets, or set the offline mode in env; without internet: "
        "trainer.logger=[console,tensorboard]",
        "请在 secrets 中写明密钥，或在 env 中设置离线模式；没有互联网时：trainer.logger=[console,tensorboard]",
    ),
    "NR337.about": (
        "Trackers that need a login. verl's default logger is console and wandb; wandb without a key or a network "
        "times out after 90 s and ends the trainer. No problem where the nodes have a login of their own "
        "(~/.netrc) and reach the service.",
        "需要登录的跟踪服务。verl 默认的 logger 是 console 和 wandb；"
        "wandb 没有密钥或网络时会在 90 秒后超时并结束训练器。"
        "节点自身已登录（~/.netrc）且能访问服务时没有问题。",
    ),
    "NR339": (
        "{key} is {value}: the reward model cannot be started (needed: {limit})",
        "{key} 为 {value}：无法启动奖励模型（需要：{limit}）",
    ),
    "NR339.fix": ("Set {limit}", "请设置 {limit}"),
    "NR339.about": (
        "A reward model's path, engine and nodes. verl ends without a model path or the name of a rollout, and with a "
        "resource pool of its own that has no nodes or NPUs.",
        "奖励模型的路径、引擎和节点。没有模型路径或 rollout 名称，或其独立资源池没有节点或 NPU 时，verl 会报错结束。",
    ),
}
