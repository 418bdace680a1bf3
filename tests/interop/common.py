"""What the scripts of this folder share: a small problem, and what a rank tells the test.

Each script is called with the folder for what its ranks tell, and a precision: `no` or `bf16`. With
a third word, `raise`, rank 1 fails in the middle.
"""

import hashlib
import json
import os
import sys
import time
from pathlib import Path

import torch
from torch import distributed, nn

FOLDER, PRECISION = Path(sys.argv[1]), sys.argv[2]
FAILS = sys.argv[3:] == ["raise"]
ROWS, FEATURES, BATCH, STEPS = 512, 8, 16, 16


def make_model(rank):
    """Another one on each rank, so that only a library that synchronises ends with equal ones."""
    torch.manual_seed(rank)
    return nn.Sequential(nn.Linear(FEATURES, 32), nn.Tanh(), nn.Linear(32, 1))


def make_data():
    """All rows: a library's sampler decides which a rank sees."""
    generator = torch.Generator().manual_seed(7)
    inputs = torch.randn(ROWS, FEATURES, generator=generator)
    return torch.utils.data.TensorDataset(inputs, inputs.sum(1, keepdim=True))


def fail_at(step, rank):
    if FAILS and rank == 1 and step == STEPS // 2:
        raise ValueError("row 5 of rank 1 is wrong")


def fingerprint(module):
    digest = hashlib.sha256()
    for parameter in module.parameters():
        digest.update(parameter.detach().float().numpy().tobytes())
    return digest.hexdigest()


def tell(**facts):
    """Leaves what the library said about this rank for the test, and the group of ranks.

    The file's name is the launcher's word. The sleep: a thread of gloo that still lets go of a gathered
    tensor while Python ends aborts the process, under any launcher (seen with torchrun too).
    """
    (FOLDER / f"{os.environ['RANK']}.json").write_text(json.dumps(facts), encoding="utf-8")
    if distributed.is_initialized():
        distributed.destroy_process_group()
        time.sleep(1)
