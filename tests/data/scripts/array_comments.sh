#!/bin/bash
# Comments inside arrays, also an element that is commented out
# with: TP=4
ROLLOUT=(
    # how many answers
    rollout.n=8
    rollout.tp=${TP:-2}  # tensor parallel
    # rollout.temperature=0.7
    #rollout.top_p=0.9

    rollout.gpu_memory_utilization=0.6 rollout.name=vllm
)
python3 -m trainer.main "${ROLLOUT[@]}"
