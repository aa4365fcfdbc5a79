# SPDX-License-Identifier: BSD-3-Clause
"""Fit an oscillator to its measured swings, by differential evolution.

    mpirun -n 3 python3 PROGRAM [POPULATION]

How long a trial takes depends on its frequency.  The program prints the best of
every tenth generation, which is the same for any number of ranks.
"""
import math
import random
import sys
import time

import evenkeel as ek

TIMES = [0.5 * i for i in range(1, 21)]
TRUE = 0.11, 2.3                                # damping, frequency
BOUNDS = (0.01, 1), (0.5, 8)
SIZE = int(sys.argv[1]) if len(sys.argv) > 1 else 16    # of the population
GENERATIONS = 30


def swings(damping, frequency):
    """Places at TIMES, by small steps: fast oscillators need more of them."""
    place, speed, now, places = 1.0, 0.0, 0.0, []
    step = 0.005 / frequency
    for until in TIMES:
        while now < until:
            speed -= step * (2 * damping * speed + frequency ** 2 * place)
            place += step * speed
            now += step
        places.append(place)
    return places


MEASURED = swings(*TRUE)


def misfit(trial):
    """How far the trial is from what was measured."""
    return sum((a - b) ** 2 for a, b in zip(swings(*trial), MEASURED))


def trials_of(population, dice):
    """A trial for each member: three others, mixed."""
    trials = []
    for member in population:
        a, b, c = dice.sample(population, 3)
        trials.append(tuple(
            min(max(x + 0.7 * (y - z), low), high)
            if dice.random() < 0.8 else old
            for old, x, y, z, (low, high) in zip(member, a, b, c, BOUNDS)))
    return trials


def fit(tasks):
    """Replace members by trials that fit better."""
    dice = random.Random(5)
    population = [tuple(dice.uniform(*bounds) for bounds in BOUNDS)
                  for _ in range(SIZE)]
    errors = tasks.map(misfit, population)
    for generation in range(1, GENERATIONS + 1):
        trials = trials_of(population, dice)
        found = tasks.map(misfit, trials)
        for i, error in enumerate(found):
            if error < errors[i]:
                population[i], errors[i] = trials[i], error
        best = min(range(SIZE), key=errors.__getitem__)
        damping, frequency = population[best]
        if generation % 10 == 0 and tasks.rank == 0:
            print(f"generation {generation}: damping {damping:.9f}, "
                  f"frequency {frequency:.9f}, misfit {errors[best]:.3e}")


def main():
    """Time a fit."""
    with ek.Tasks() as tasks:                   # all ranks fit, with equal dice
        start = time.perf_counter()
        fit(tasks)
        if tasks.rank == 0:
            print(f"seconds: {time.perf_counter() - start:.3f}")


if __name__ == "__main__":
    main()
