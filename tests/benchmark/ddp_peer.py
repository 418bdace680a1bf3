"""ddp_peer.py MODEL STEPS: the training step of `benchmark train`, in PyTorch's DistributedDataParallel.

Started by torchrun; rank 0 prints one JSON line with the median time of a step.
"""

import json
import os
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn.functional import cross_entropy

WARM_UP = 5


def make_mlp():
    widths = [784, 2048, 2048, 2048, 2048, 10]
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1]), (64, 784)


def make_cnn():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(3136, 128), nn.ReLU(), nn.Linear(128, 10),
    ), (64, 1, 28, 28)


def main():
    name, steps = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    torch.distributed.init_process_group("gloo")
    rank = torch.distributed.get_rank()
    torch.manual_seed(0)
    module, shape = {"mlp": make_mlp, "cnn": make_cnn}[name]()
    model = nn.parallel.DistributedDataParallel(module, gradient_as_bucket_view=True)
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3, fused=True)
    generator = torch.Generator().manual_seed(1 + rank)
    times = []
    for _ in range(WARM_UP + steps):
        inputs = torch.randn(shape, generator=generator)
        target = torch.randint(10, (shape[0],), generator=generator)
        start = time.perf_counter()
        cross_entropy(model(inputs), target).backward()
        optimizer.step()
        optimizer.zero_grad()
        times.append((time.perf_counter() - start) * 1e3)
    if rank == 0:
        ranks = torch.distributed.get_world_size()
        print(json.dumps({"ms": statistics.median(times[WARM_UP:]), "ranks": ranks, "steps": steps}))
    torch.distributed.destroy_process_group()


main()
