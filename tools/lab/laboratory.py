# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Plays scenes in the laboratory, for programs outside of it."""
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from report import Report

HERE = os.path.dirname(os.path.abspath(__file__))
RUN = os.path.join(HERE, "run")


def build():
    """What is missing; later calls may come at once."""
    subprocess.run([RUN, "--", "true"], check=True)


def play(scene, given):
    """Of a file, or of one in scenes; with parameters such as "n=8". Gives a Report."""
    path = scene if os.path.exists(scene) else os.path.join(HERE, "scenes", scene)
    result = subprocess.run(
        [RUN, "--", os.path.join(HERE, "play"), os.path.abspath(path), *given],
        stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode:
        sys.exit(f"{scene} {' '.join(given)}: exit status {result.returncode}")
    return Report(json.loads(result.stdout))


def print_table(headings, row, cases):
    """row(*case) gives the cells of a row; rows are made side by side, and come in order"""
    build()
    print("| " + " | ".join(headings) + " |")
    print("|" + " --- |" * len(headings))
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as workers:
        for cells in workers.map(lambda case: row(*case), cases):
            print("| " + " | ".join(cells) + " |", flush=True)
