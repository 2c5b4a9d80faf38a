#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""ipv6_destinations.py DEVICE GID_INDEX: what any program can try with an IPv6 GID.

A UD send and an RC connection to a multicast GID, which nobody resolves. Prints for each
the name of the errno of what was refused, or the status of what was sent.
"""
import errno
import sys

from pyverbs.addr import AH, AHAttr, GID, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, SendWR

GROUP = "ff0e:0000:0000:0000:0000:0000:0000:0001"
LENGTH = 64

# pyverbs has other names for them in each release. See infiniband/verbs.h.
IBV_QPT_RC, IBV_QPT_UD = 2, 4
IBV_QPS_INIT = 1
IBV_ACCESS_LOCAL_WRITE = 1
IBV_WR_SEND = 2
IBV_MTU_1024 = 3


def path(index):
    return AHAttr(gr=GlobalRoute(dgid=GID(GROUP), sgid_index=index, hop_limit=1),
                  is_global=1, port_num=1)


def send(pd, cq, index):
    """A datagram to the group"""
    init = QPInitAttr(qp_type=IBV_QPT_UD, scq=cq, rcq=cq, cap=QPCap())
    qp = QP(pd, init, QPAttr(qp_state=IBV_QPS_INIT, port_num=1))
    ah = AH(pd, attr=path(index))
    mr = MR(pd, LENGTH, IBV_ACCESS_LOCAL_WRITE)
    wr = SendWR(num_sge=1, sg=[SGE(mr.buf, LENGTH, mr.lkey)], opcode=IBV_WR_SEND)
    wr.set_wr_ud(ah, 0xffffff, 0)
    qp.post_send(wr)
    while True:
        count, completions = cq.poll()
        if count:
            return f"status {completions[0].status}"


def connect(pd, cq, index):
    """An RC queue pair whose peer is the group"""
    init = QPInitAttr(qp_type=IBV_QPT_RC, scq=cq, rcq=cq, cap=QPCap())
    attr = QPAttr(port_num=1)
    qp = QP(pd, init)
    qp.to_init(attr)
    attr.ah_attr = path(index)
    attr.dest_qp_num = 2
    attr.path_mtu = IBV_MTU_1024
    attr.max_dest_rd_atomic = 1
    qp.to_rtr(attr)
    return "connected"


def result_of(attempt, *arguments):
    try:
        return attempt(*arguments)
    except PyverbsRDMAError as error:
        return errno.errorcode.get(error.error_code, str(error))


def main():
    context = Context(name=sys.argv[1])
    pd = PD(context)
    print(", ".join(f"{attempt.__name__}: " +
                    result_of(attempt, pd, CQ(context, 10), int(sys.argv[2]))
                    for attempt in (send, connect)))


if __name__ == "__main__":
    main()
