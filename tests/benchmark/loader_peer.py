"""loader_peer.py WORKERS EPOCHS: the epochs of `benchmark loader`, by PyTorch's DataLoader."""

import json
import sys
import time

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    workers, epochs = map(int, sys.argv[1:])
    torch.set_num_threads(1)
    data = TensorDataset(torch.randn(60000, 1, 28, 28), torch.randint(10, (60000,)))
    loader = DataLoader(data, batch_size=64, shuffle=True, num_workers=workers)
    best = 0
    for _ in range(epochs):
        start = time.perf_counter()
        count = sum(batch[0].shape[0] for batch in loader)
        best = max(best, count / (time.perf_counter() - start))
    print(json.dumps({"samples_a_second": round(best), "workers": workers}))


main()
