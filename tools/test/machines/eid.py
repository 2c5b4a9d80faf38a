#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""eid.py NAME: gives SMC an enterprise ID, without which version 2 of SMC-R, that of
RoCEv2, is not used. Hosts with the same one speak it."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../lib"))

# pylint: disable=wrong-import-position
from netlink import Family, attribute	# noqa: E402

ADD_UEID, EID_TABLE_ENTRY = 10, 1	# linux/smc.h

Family("SMC_GEN_NETLINK").ask(
    ADD_UEID, attribute(EID_TABLE_ENTRY, sys.argv[1].encode().ljust(32) + b"\0"))
