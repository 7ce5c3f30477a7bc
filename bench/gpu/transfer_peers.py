"""Copies of 1 GiB between the host and a GPU in torch, beside `gpu_bench transfer`."""

import time
from collections.abc import Callable

import torch

BYTES = 1 << 30
ROUNDS = 5


def rate(copy: Callable[[], object]) -> float:
    """Return GB/s of the best of several copies, after one that is not measured."""
    best = float("inf")
    for i in range(ROUNDS + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        copy()
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - start) if i else best
    return BYTES / best / 1e9


def main() -> None:
    """Print GB/s each way for pageable, fresh and pinned memory."""
    device = torch.zeros(BYTES, dtype=torch.uint8, device="cuda")
    pageable = torch.ones(BYTES, dtype=torch.uint8)
    pinned = torch.ones(BYTES, dtype=torch.uint8, pin_memory=True)
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}")
    for name, host in (("pageable", pageable), ("pinned", pinned)):
        into = rate(lambda host=host: device.copy_(host, non_blocking=True))
        out = rate(lambda host=host: host.copy_(device, non_blocking=True))
        print(f"{name:8} in {into:6.2f} GB/s, out {out:6.2f} GB/s")
    into, out = rate(lambda: pageable.to("cuda")), rate(device.cpu)
    print(f"fresh    in {into:6.2f} GB/s, out {out:6.2f} GB/s")


if __name__ == "__main__":
    main()
