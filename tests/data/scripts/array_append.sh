#!/bin/bash
# A+=( ) in branches; an array that may stay empty
# with: OFFLOAD=True LORA=32
ARGS=(a.b=1)
LORA_ARGS=()
if [ "${OFFLOAD:-False}" = "True" ]; then
    ARGS+=(actor.param_offload=True
           actor.optimizer_offload=True)
fi
if [[ -n ${LORA:-} ]]; then
    LORA_ARGS=(model.lora_rank=$LORA model.lora_alpha=$((LORA * 2)))
fi
ARGS+=( c.d=2 )
python3 -m trainer.main "${ARGS[@]}" "${LORA_ARGS[@]}" ${LORA_ARGS[@]:+lora.on=1}
