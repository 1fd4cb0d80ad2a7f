"""Mutation tests: thousands of files and addresses that our programs would never write.

    python -m tests.fuzz [records configurations tokenizers weights uploads addresses] [--n 200] [--seed 0] [--only 17]

Each case is made from a good one by its number and the seed alone, runs in a process of its own kind with a limit on
memory and on time, and ends in one of three ways: opened (and then used), refused by an error of ours, or an escape.
"""
