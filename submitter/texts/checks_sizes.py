"""Texts of the checks of counts and of parts that do not go together: id -> (English, Chinese).

An `.about` begins with its title.
"""

TEXTS: dict[str, tuple[str, str]] = {
    "NR271": (
        "{name} is {value}: it has to be at least {limit}",
        "{name} 为 {value}：至少应为 {limit}",
    ),
    "NR271.fix": (
        "Set {name} to {limit} or more",
        "把 {name} 设为 {limit} 或更大",
    ),
    "NR271.about": (
        "A count below one. Nodes, NPUs, parallel sizes, lengths and the rollout engine's limits are divided by or "
        "handed on, and the error appears far from the value. Only what the job itself sets is looked at.",
        "小于一的数量。节点数、NPU 数、并行大小、长度以及推理引擎的上限会被用作除数或继续传递，报错位置离该值很远。"
        "只检查作业自己设置的值。",
    ),
    "NR272": (
        "strategy {value} needs the section actor.{section}, but this job's {config} has actor.{own} instead",
        "strategy {value} 需要 actor.{section} 一节，但本作业组成的 {config} 中是 actor.{own}",
    ),
    "NR272.fix": (
        "Choose the engine by model_engine (Megatron on 0.7.1: --config-name=ppo_megatron_trainer), or drop it",
        "用 model_engine 选择引擎（0.7.1 的 Megatron 用 --config-name=ppo_megatron_trainer），或去掉 strategy",
    ),
    "NR272.about": (
        "A strategy without its engine. actor.strategy only names the engine; its settings come with model_engine or "
        "the configuration's name. With the one changed alone, verl's workers look for settings that are not there.",
        "策略与引擎不一致。actor.strategy 只是引擎的名字，其设置来自 model_engine 或配置文件的名字。只改其一时，verl "
        "的 worker 会去找并不存在的设置。",
    ),
    "NR273": (
        "actor_rollout_ref.hybrid_engine is {value}, but this trainer asserts that it is {limit} and stops",
        "actor_rollout_ref.hybrid_engine 为 {value}，但该训练器断言其为 {limit}，启动时就会停止",
    ),
    "NR273.fix": (
        "Drop it, or use a trainer whose rollout has nodes of its own: verl.experimental.one_step_off_policy.main_ppo "
        "or verl.experimental.fully_async_policy.fully_async_main",
        "去掉该设置，或改用推理有独立节点的训练器：verl.experimental.one_step_off_policy.main_ppo 或 "
        "verl.experimental.fully_async_policy.fully_async_main",
    ),
    "NR273.about": (
        "A rollout apart from training, in a trainer that has them together. Only the one-step-off and the fully "
        "asynchronous trainer, and verl's newer one from 0.9.0 on, can do without the hybrid engine.",
        "在训推一体的训练器中要求推理与训练分离。只有 one-step-off、完全异步训练器，以及 0.9.0 起的新训练器可以不用"
        "混合引擎。",
    ),
    "NR274": (
        "the reward model's replicas of {value} NPUs do not fill its pool of {npus}: {npus} % {value} = {rest}",
        "奖励模型每个副本占 {value} 个 NPU，无法填满其 {npus} 个 NPU 的资源池：{npus} % {value} = {rest}",
    ),
    "NR274.fix": (
        "Choose a size among {sizes}, or change the pool",
        "从 {sizes} 中选择，或修改资源池",
    ),
    "NR274.about": (
        "The reward model's pool, cut into replicas. verl cuts the pool (nnodes × n_gpus_per_node) into replicas of TP "
        "× DP × PP NPUs and asserts that nothing is left over. Without a pool of its own this is not looked at.",
        "把奖励模型的资源池切成副本。verl 把资源池（nnodes × n_gpus_per_node）按 TP × DP × PP 个 NPU 切成副本，并断言没"
        "有剩余。没有独立资源池时不检查。",
    ),
}
