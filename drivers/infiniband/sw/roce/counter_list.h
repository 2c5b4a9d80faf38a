/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Every counter of a device, under the name that it has in
 * /sys/class/infiniband/DEVICE/ports/1/hw_counters. Documentation/counters.md
 * explains each of them. A file that includes this one defines ROCE_COUNTER()
 * first. counters.c has second names for some counters.
 */

/* Traffic */
ROCE_COUNTER(tx_packets)
ROCE_COUNTER(tx_bytes)
ROCE_COUNTER(tx_multicast_packets)
ROCE_COUNTER(tx_trains)
ROCE_COUNTER(rx_packets)
ROCE_COUNTER(rx_bytes)
ROCE_COUNTER(rx_multicast_packets)
ROCE_COUNTER(rx_trains)
ROCE_COUNTER(rdma_sends)
ROCE_COUNTER(rdma_recvs)
ROCE_COUNTER(rx_write_requests)
ROCE_COUNTER(rx_read_requests)
ROCE_COUNTER(rx_atomic_requests)

/* Recovery */
ROCE_COUNTER(retransmitted_packets)
ROCE_COUNTER(completer_retry_err)
ROCE_COUNTER(rcvd_seq_err)
ROCE_COUNTER(packet_seq_err)
ROCE_COUNTER(implied_nak_seq_err)
ROCE_COUNTER(local_ack_timeout_err)
ROCE_COUNTER(rcvd_rnr_err)
ROCE_COUNTER(rnr_nak_retry_err)
ROCE_COUNTER(np_ecn_marked_roce_packets)
ROCE_COUNTER(np_cnp_sent)
ROCE_COUNTER(rp_cnp_handled)
ROCE_COUNTER(rp_cnp_ignored)
ROCE_COUNTER(roce_slow_restart)
ROCE_COUNTER(roce_slow_restart_cnps)
ROCE_COUNTER(roce_slow_restart_trans)
ROCE_COUNTER(out_of_sequence)
ROCE_COUNTER(out_of_seq_request)
ROCE_COUNTER(out_of_buffer)
ROCE_COUNTER(send_rnr_err)
ROCE_COUNTER(duplicate_request)
ROCE_COUNTER(ack_deferred)
ROCE_COUNTER(reorder_kept)
ROCE_COUNTER(reorder_late)
ROCE_COUNTER(reorder_not_lost)
ROCE_COUNTER(reorder_no_room)
ROCE_COUNTER(responses_asked_again)
ROCE_COUNTER(selective_acks_sent)
ROCE_COUNTER(selective_acks_received)
ROCE_COUNTER(selective_repeats)
ROCE_COUNTER(tail_loss_probes)

/* Completions with an error, by status */
ROCE_COUNTER(req_cqe_error)
ROCE_COUNTER(resp_cqe_error)
ROCE_COUNTER(req_cqe_flush_error)
ROCE_COUNTER(resp_cqe_flush_error)
ROCE_COUNTER(req_remote_access_errors)
ROCE_COUNTER(req_remote_invalid_request)
ROCE_COUNTER(resp_remote_access_errors)
ROCE_COUNTER(resp_local_length_error)
ROCE_COUNTER(req_transport_retries_exceeded)
ROCE_COUNTER(req_rnr_retries_exceeded)

/* Received and dropped */
ROCE_COUNTER(rx_icrc_encapsulated)
ROCE_COUNTER(rx_dropped_header)
ROCE_COUNTER(rx_dropped_length)
ROCE_COUNTER(rx_dropped_opcode)
ROCE_COUNTER(rx_dropped_pkey)
ROCE_COUNTER(rx_dropped_qkey)
ROCE_COUNTER(rx_dropped_address)
ROCE_COUNTER(rx_dropped_no_qp)
ROCE_COUNTER(rx_dropped_qp_state)
ROCE_COUNTER(rx_dropped_unexpected_ack)
ROCE_COUNTER(rx_dropped_no_receive)
ROCE_COUNTER(rx_dropped_incomplete)
ROCE_COUNTER(rx_dropped_inbox_full)
ROCE_COUNTER(rx_dropped_no_memory)

/* Sending delayed or failed */
ROCE_COUNTER(tx_dropped_no_route)
ROCE_COUNTER(tx_dropped_queue_full)
ROCE_COUNTER(tx_held_back)
ROCE_COUNTER(tx_stalled_queue)
ROCE_COUNTER(tx_stalled_memory)
ROCE_COUNTER(tx_wait_us)
ROCE_COUNTER(link_downed)

#undef ROCE_COUNTER
