/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_PATH_H
#define ROCE_PATH_H

#include <linux/rcupdate.h>
#include <linux/types.h>

struct roce_scoreboard;

/* Maximum number of paths of a QP; all of them fit into a bit mask */
#define ROCE_MAX_PATHS		16u

/* Maximum number of flights, a power of two */
#define ROCE_MAX_FLIGHTS	128u

enum roce_path_state {
	ROCE_PATH_GOOD,
	ROCE_PATH_LEFT,		/* not used until a probe is answered */
};

/**
 * struct roce_path - a path, and what is known of it
 * @state: of &enum roce_path_state
 * @backoff: log2 of the time until the first probe when it is left next, milliseconds
 * @saved: flights in a row of which only copies have arrived
 * @wait: log2 of the time from the latest probe to the next one
 * @loss: share of lost packets, smoothed, in 1/1024
 * @sample: number of packets since @loss was computed
 * @sample_lost: those of them that were lost
 * @streak: flights in a row that arrived without a loss
 * @under_way: number of packets in its flights
 * @srtt: mean round trip, nanoseconds; 0 if none was measured
 * @latest_rtt: the latest round trip, nanoseconds; 0 if none was measured
 * @latest: number of the latest flight that has arrived
 * @newest: its departure, nanoseconds
 * @probe_at: time of the next probe, nanoseconds
 * @probed_at: departure of the latest probe, nanoseconds
 * @probe: number of the latest probe
 * @sent: number of packets sent
 * @lost: number of packets lost
 */
struct roce_path {
	u8 state;
	u8 backoff;
	u8 wait;
	u8 saved;
	u16 loss;
	u16 sample;
	u16 sample_lost;
	u32 streak;
	u32 under_way;
	u64 srtt;
	u64 latest_rtt;
	u32 latest;
	u64 newest;
	u64 probe_at;
	u64 probed_at;
	u32 probe;
	u64 sent;
	u64 lost;
};

/**
 * struct roce_flight - packets that left together, on one path
 * @begin: PSN of the first one that is not lost
 * @end: one past the last PSN
 * @asked: PSN of the packet that asked for an acknowledgment, if @times
 * @packets: number of packets, with those that are lost
 * @copied: PSN of the first packet that a probe has sent again; @end if there is none
 * @path: index of the path
 * @times: the acknowledgment of @asked ends a round trip
 * @again: they were sent before
 * @arrived: all of them have arrived
 * @over: nothing is expected of it any more
 * @sent_at: departure, nanoseconds
 */
struct roce_flight {
	u32 begin;
	u32 end;
	u32 asked;
	u32 copied;
	u16 packets;
	u8 path;
	bool times : 1;
	bool again : 1;
	bool arrived : 1;
	bool over : 1;
	u64 sent_at;
};

/**
 * struct roce_paths - the paths of a requester
 * @rcu: operators look at this structure under RCU
 * @count: number of paths in use
 * @current_path: index of the path of the latest new packets
 * @stayed: number of new packets sent since it was chosen
 * @again: index of the path of the latest repeated packets
 * @until: all packets before this PSN have arrived
 * @newest: departure of the latest flight that has arrived, on any path
 * @first: number of the oldest flight; free running
 * @next: number of the next flight; free running
 * @probes: number of probes sent; it has 24 bits
 * @path: the paths
 * @flight: the flights, by the lower bits of their numbers; in the order of departure
 */
struct roce_paths {
	struct rcu_head rcu;
	u32 count;
	u32 current_path;
	u32 stayed;
	u32 again;
	u32 until;
	u64 newest;
	u32 first;
	u32 next;
	u32 probes;
	struct roce_path path[ROCE_MAX_PATHS];
	struct roce_flight flight[ROCE_MAX_FLIGHTS];
};

/**
 * struct roce_departure - packets that were sent
 * @path: index of the path
 * @begin: PSN of the first packet
 * @end: one past the last PSN
 * @packets: number of packets
 * @asked: PSN of a packet that asked for an acknowledgment
 * @times: one has asked, and its acknowledgment comes at once
 * @again: they were sent before
 * @time: nanoseconds
 */
struct roce_departure {
	u32 path;
	u32 begin;
	u32 end;
	u32 packets;
	u32 asked;
	bool times;
	bool again;
	u64 time;
};

/**
 * struct roce_path_news - what an acknowledgment has changed
 * @left: bit mask of the paths that were left
 * @returned: bit mask of the paths that are used again
 */
struct roce_path_news {
	u32 left;
	u32 returned;
};

u16 roce_path_source_port(u16 port, u32 path);
u32 roce_path_flow_label(u32 label, u32 path);
void roce_paths_init(struct roce_paths *paths, u32 psn);
void roce_paths_forget(struct roce_paths *paths, u32 psn);
u32 roce_paths_choose(struct roce_paths *paths, u32 count);
u32 roce_paths_choose_again(struct roce_paths *paths, u32 count, bool silence);
u32 roce_paths_probe(struct roce_paths *paths, u64 now);
void roce_paths_answered(struct roce_paths *paths, u32 probe, u64 now,
			 struct roce_path_news *news);
void roce_paths_sent(struct roce_paths *paths, const struct roce_departure *departure);
void roce_paths_learn(struct roce_paths *paths, struct roce_scoreboard *board, u32 until,
		      u64 now, struct roce_path_news *news);
void roce_paths_silence(struct roce_paths *paths, struct roce_scoreboard *board, u64 now,
			struct roce_path_news *news);
void roce_paths_unanswered(struct roce_paths *paths, u32 probes);
u32 roce_paths_oldest(const struct roce_paths *paths, u32 psn);

#endif /* ROCE_PATH_H */
