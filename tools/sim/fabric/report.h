/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef FABRIC_REPORT_H
#define FABRIC_REPORT_H

#include <linux/types.h>

void report_begin(void);
void report_start(u32 flow, u64 now);
void report_settled(u64 now);
void report_message(u32 flow, u64 now, u64 latency);
void report_end(u32 flow, u64 now);
bool report_is_complete(void);
void report_heading(void);
void report_print(u32 paths, u64 now);

#endif /* FABRIC_REPORT_H */
