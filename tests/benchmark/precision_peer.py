"""precision_peer.py STEPS: the training step of `benchmark precision`, in PyTorch.

Prints one JSON line with the median times of a step in fp32 and under autocast to bf16, taken in turn.
"""

import contextlib
import json
import os
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional

WARM_UP = 3
VOCABULARY, WIDTH, CONTEXT, HEADS, DEPTH = 256, 384, 128, 6, 6


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.norm1(x)).view(batch, length, 3, HEADS, width // HEADS)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(functional.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.position = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(DEPTH))
        self.norm = nn.LayerNorm(WIDTH)
        nn.init.normal_(self.token.weight, std=0.02)
        nn.init.normal_(self.position.weight, std=0.02)

    def forward(self, ids):
        x = self.token(ids) + self.position(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return functional.linear(self.norm(x), self.token.weight)


def trainer(cast):
    torch.manual_seed(0)
    model = Gpt()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    generator = torch.Generator().manual_seed(1)

    def step():
        ids = torch.randint(VOCABULARY, (8, CONTEXT + 1), generator=generator)
        start = time.perf_counter()
        with cast():
            output = model(ids[:, :-1])
        loss = functional.cross_entropy(output.float().view(-1, VOCABULARY), ids[:, 1:].reshape(-1))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return (time.perf_counter() - start) * 1e3

    return step


def main():
    steps = int(sys.argv[1])
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    full = trainer(contextlib.nullcontext)
    narrow = trainer(lambda: torch.autocast("cpu", torch.bfloat16))
    times = [(full(), narrow()) for _ in range(WARM_UP + steps)][WARM_UP:]
    full_ms, narrow_ms = (statistics.median(column) for column in zip(*times))
    print(json.dumps({"fp32_ms": full_ms, "bf16_ms": narrow_ms, "ratio": full_ms / narrow_ms, "steps": steps}))


main()
