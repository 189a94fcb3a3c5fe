# Bursts, sustained load, and what the GPU's clock and power were meanwhile.
# SPDX-License-Identifier: MIT
import os
import statistics
import subprocess
import time

import torch

# Lets the chip settle between candidates.
IDLE_S = 0.02
# About 1.5 ms of waiting on the GPU: launches are queued behind it, so that no time of the host is measured.
SPIN_CYCLES = 3_000_000
TARGET_MS = 0.6
MOST_LAUNCHES = 8


class Monitor:
    """Clock, power and temperature of PyTorch's GPU: through NVML, else nvidia-smi."""

    FIELDS = ("clock_mhz", "power_w", "temperature_c")

    def __init__(self):
        self.nvml = None
        # NVML counts all GPUs of the machine, PyTorch the visible ones.
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
        self.index = int(visible) if visible.isdigit() else 0
        try:
            import pynvml

            pynvml.nvmlInit()
            self.handle = pynvml.nvmlDeviceGetHandleByIndex(self.index)
            self.nvml = pynvml
            self.read()
        except Exception:  # not installed, or refused by the driver
            self.nvml = None

    def read(self):
        if not self.nvml:
            return None
        nvml, handle = self.nvml, self.handle
        return (nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM), nvml.nvmlDeviceGetPowerUsage(handle) / 1000,
                nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU))

    def read_slowly(self):
        query = ["nvidia-smi", "-i", str(self.index), "--query-gpu=clocks.sm,power.draw,temperature.gpu", "--format=csv,noheader,nounits"]
        try:
            done = subprocess.run(query, capture_output=True, text=True, timeout=10)
            return tuple(float(value) for value in done.stdout.split(","))
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return None

    def summary(self, samples):
        """Medians; nvidia-smi is too slow to be asked more than once."""
        samples = [s for s in samples if s] or [s for s in [self.read_slowly()] if s]
        return {name: round(statistics.median(column), 1) for name, column in zip(self.FIELDS, zip(*samples))}


class Samples:
    """Milliseconds per launch of one candidate, round by round."""

    def __init__(self):
        self.times, self.states, self.launches, self.error = [], [], 0, None

    def row(self, cell, monitor):
        low, middle, high = min(self.times), statistics.median(self.times), max(self.times)
        return dict(median=round(cell.rate(middle), 4), low=round(cell.rate(high), 4), high=round(cell.rate(low), 4), median_us=round(middle * 1e3, 3),
                    rounds=len(self.times), launches=self.launches, **monitor.summary(self.states))


def events():
    return torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)


def estimate(launch):
    """Milliseconds per launch, roughly; after two to warm up."""
    launch(), launch()
    torch.cuda.synchronize()
    start, end = events()
    torch.cuda._sleep(SPIN_CYCLES)
    start.record()
    launch(), launch()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / 2


def one_burst(launch, count, samples, monitor):
    time.sleep(IDLE_S)
    start, end = events()
    torch.cuda._sleep(SPIN_CYCLES)
    launch()
    start.record()
    for _ in range(count):
        launch()
    end.record()
    samples.states.append(monitor.read())
    end.synchronize()
    samples.times.append(start.elapsed_time(end) / count)
    samples.launches = count


def one_second(launch, seconds, warm_seconds, samples, monitor):
    per_launch = max(estimate(launch), 1e-3)
    start, end = events()
    for _ in range(int(warm_seconds * 1e3 / per_launch) + 1):
        launch()
    count = int(seconds * 1e3 / per_launch) + 1
    start.record()
    for _ in range(count):
        launch()
    end.record()
    while not end.query():
        samples.states.append(monitor.read())
        time.sleep(0.02)
    samples.times.append(start.elapsed_time(end) / count)
    samples.launches = count


def measure(launches, options, monitor, begin, failed):
    """Samples by name. Rounds are interleaved, each the other way round than the one before; `begin(name)` is told before each
    measurement, `failed(name, error)` after one that broke, which ends that candidate."""
    samples, live, shortest = {name: Samples() for name in launches}, dict(launches), None

    def attempt(name, action):
        begin(name)
        try:
            return action()
        except Exception as error:
            failed(name, error)
            del live[name], samples[name]
            return None

    durations = [attempt(name, lambda: estimate(launches[name])) for name in launches]
    shortest = min((d for d in durations if d), default=1)
    # The same number for all: more launches in a row would heat the chip more.
    count = max(1, min(MOST_LAUNCHES, round(TARGET_MS / max(shortest, 1e-3))))
    for turn in range(options["rounds"]):
        for name in list(live) if turn % 2 == 0 else list(live)[::-1]:
            if options["mode"] == "burst":
                attempt(name, lambda: one_burst(launches[name], count, samples[name], monitor))
            else:
                attempt(name, lambda: one_second(launches[name], options["seconds"], options["warm_seconds"], samples[name], monitor))
    return samples
