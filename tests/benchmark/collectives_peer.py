"""collectives_peer.py REPEATS BYTES...: the collectives of `benchmark collectives` over PyTorch's Gloo.

Started by torchrun; rank 0 prints one JSON line with the median milliseconds of each.
"""

import json
import statistics
import sys
import time

import torch
import torch.distributed as dist

WARM_UP = 3


def median_ms(work, repeats):
    times = []
    for _ in range(WARM_UP + repeats):
        dist.barrier()
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times[WARM_UP:])


def main():
    repeats, sizes = int(sys.argv[1]), [int(size) for size in sys.argv[2:]]
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    ranks = dist.get_world_size()
    figures = {}
    for size in sizes:
        whole = torch.ones(size // 4)
        part = torch.ones(size // 4 // ranks)
        often = max(5, min(repeats, repeats * (1 << 20) // size))
        figures[str(size)] = {
            "all_reduce": median_ms(lambda: dist.all_reduce(whole), often),
            "all_gather": median_ms(lambda: dist.all_gather_into_tensor(whole, part), often),
            "reduce_scatter": median_ms(lambda: dist.reduce_scatter_tensor(part, whole), often),
        }
    if dist.get_rank() == 0:
        print(json.dumps(figures))
    dist.destroy_process_group()


main()
