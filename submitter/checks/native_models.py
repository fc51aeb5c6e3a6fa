"""Model types that transformers itself knows (5.10: causal language models, and those that also see or hear)."""

from __future__ import annotations

_NAMES = """
    afmoe apertus arcee aria aria_text aya_vision bamba biogpt bitnet bloom blt chameleon codegen cohere cohere2
    cohere2_moe cohere2_vision ctrl cwm dbrx deepseek_ocr2 deepseek_v2 deepseek_v3 deepseek_v4 deepseek_vl
    deepseek_vl_hybrid diffllama doge dots1 emu3 ernie4_5 ernie4_5_moe ernie4_5_vl_moe evolla exaone4 exaone4_5
    exaone_moe falcon falcon_h1 falcon_mamba fast_vlm flex_olmo fuyu gemma gemma2 gemma3 gemma3_text gemma3n
    gemma3n_text gemma4 gemma4_assistant gemma4_text gemma4_unified gemma4_unified_assistant gemma4_unified_text
    glm glm4 glm46v glm4_moe glm4_moe_lite glm4v glm4v_moe glm_moe_dsa glm_ocr glmasr glmga got_ocr2 gpt-sw3
    gpt2 gpt_bigcode gpt_neo gpt_neox gpt_neox_japanese gpt_oss gptj granite granite4_vision granite_speech
    granite_speech_plus granitemoe granitemoehybrid granitemoeshared helium hrm_text hunyuan_v1_dense
    hunyuan_v1_moe hy_v3 hyperclovax idefics idefics2 idefics3 internvl jais2 jamba janus jetmoe kosmos-2
    kosmos-2.5 kyutai_speech_to_text laguna lfm2 lfm2_moe lfm2_vl lighton_ocr llama llama4 llama4_text llava
    llava_next llava_next_video llava_onevision longcat_flash mamba mamba2 mellum minicpmv4_6 minimax minimax_m2
    ministral ministral3 mistral mistral3 mistral4 mixtral mllama modernbert-decoder mpt nanochat nemotron
    nemotron_h olmo olmo2 olmo3 olmo_hybrid olmoe openai-gpt opt ovis2 paddleocr_vl paligemma perception_lm
    persimmon phi phi3 phi4_multimodal phimoe pi0 qianfan_ocr qwen2 qwen2_5_omni qwen2_5_omni_thinker qwen2_5_vl
    qwen2_audio qwen2_moe qwen2_vl qwen3 qwen3_5 qwen3_5_moe qwen3_5_moe_text qwen3_5_text qwen3_moe qwen3_next
    qwen3_omni_moe qwen3_omni_moe_thinker qwen3_vl qwen3_vl_moe recurrent_gemma rwkv seed_oss shieldgemma2
    smollm3 smolvlm solar_open stablelm starcoder2 vaultgemma vibevoice_asr video_llama_3 video_llava vipllava
    voxtral voxtral_realtime xglm xlstm youtu zamba zamba2
"""
NATIVE_TYPES = frozenset(_NAMES.split())
"""`model_type` of config.json. A model of another type that has an `auto_map` brings the code that it needs."""
