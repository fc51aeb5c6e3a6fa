"""A small distributed program: python -m gloo_program sum WORDS… | fail RANK CODE | wait | flood LINES."""

import os
import sys
import time

RANK = int(os.environ["RANK"])


def meet(*words):
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo")
    total = torch.tensor([float(RANK)])
    dist.all_reduce(total)
    print(
        f"rank {RANK} of {dist.get_world_size()} node_rank {os.environ['GROUP_RANK']} local {os.environ['LOCAL_RANK']} "
        f"raylet {os.environ['RAY_RAYLET_PID']} master {os.environ['MASTER_ADDR']} sum {total.item():g} "
        f"flag {os.environ['VLLM_USE_V1']} npus {os.environ.get('ASCEND_RT_VISIBLE_DEVICES')}"
    )
    if RANK == 0:
        print(f"words {list(words)!a}")
        print(f"secret of {len(os.environ.get('WANDB_API_KEY', ''))} characters")
    return dist


def fail(rank, code):
    dist = meet()
    if rank == RANK:
        print(f"rank {RANK} gives up with {code}")
        os._exit(code)
    dist.barrier()


def wait():
    meet().barrier()
    print(f"rank {RANK} waits")
    time.sleep(600)


def flood(lines):
    for number in range(lines):
        print(f"{RANK} {number} {'x' * (number % 100)}")


if __name__ == "__main__":
    mode, *words = sys.argv[1:]
    if mode == "sum":
        meet(*words).destroy_process_group()  # its threads may abort a process that ends before them
    else:
        {"fail": fail, "wait": wait, "flood": flood}[mode](*map(int, words))
