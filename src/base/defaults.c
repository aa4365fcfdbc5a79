/* SPDX-License-Identifier: BSD-3-Clause */
/* What options are where nobody says more. */
#include "base/options.h"

const struct eki_options eki_option_defaults = {
    .name = "tasks",
    .payload_bytes = 48,
    .restore = EK_RESTORE_RETAIN,
    .stall_ms = 10000,
    .report = "0",
    .record = "0",
    .seed = 1,
    .buffer_slots = 256,
    .hpdc12 = "c=1.003,d=1.003,k=3,gather=node",
    .hints = "0",
    .timeline = "0",
    .dvs = "layout=diamond,columns=8,rows=4,cell=11,source=-1,escape=0",
    .lifeline = "graph=auto,radix=4,attempts=4",
    .sws = "epochs=2,damping=1",
    .replay = "0",
    .checkpoint = "0",
    .on_stall = "report",
    .signal = "0",
    .time_limit = "0"};
