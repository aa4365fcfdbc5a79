/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/kinds.h"

static const struct eki_kind_traits kinds[EKI_KINDS] = {
    [0] = {"unknown", EKI_CONCERNS_SERVER, false, false, true},
    [EKI_KIND_REQUEST] = {"request", EKI_CONCERNS_SERVER, false, false, true},
    [EKI_KIND_TASKS] = {"tasks", EKI_CONCERNS_WORKER, true, true, true},
    [EKI_KIND_NONE] = {"none", EKI_CONCERNS_WORKER, false, false, false},
    [EKI_KIND_VOTE] = {"vote", EKI_CONCERNS_SERVER, false, false, true},
    [EKI_KIND_WAVE] = {"wave", EKI_CONCERNS_SERVER, false, false, true},
    [EKI_KIND_STOP] = {"stop", EKI_CONCERNS_ALL, false, false, true},
    [EKI_KIND_MOVE] = {"move", EKI_CONCERNS_ALL, true, true, true},
    [EKI_KIND_SEEDS] = {"seeds", EKI_CONCERNS_ALL, false, false, true},
    [EKI_KIND_TABLE] = {"table", EKI_CONCERNS_ALL, false, false, true},
    [EKI_KIND_DRAW] = {"draw", EKI_CONCERNS_SERVER, false, false, true},
    [EKI_KIND_NUMBER] = {"number", EKI_CONCERNS_WORKER, false, false, true},
    [EKI_KIND_FETCH] = {"fetch", EKI_CONCERNS_SERVER, false, false, true},
    [EKI_KIND_FETCHED] = {"fetched", EKI_CONCERNS_WORKER, false, true, true},
    [EKI_KIND_PARCEL] = {"parcel", EKI_CONCERNS_SERVER, false, true, true},
    [EKI_KIND_BREAK] = {"break", EKI_CONCERNS_ALL, false, false, true},
    [EKI_KIND_PROBE] = {"probe", EKI_CONCERNS_SERVER, false, false, false},
    [EKI_KIND_HERE] = {"here", EKI_CONCERNS_SERVER, false, false, false},
    [EKI_KIND_OFFER] = {"offer", EKI_CONCERNS_SERVER, false, false, true},
    [EKI_KIND_TAKE] = {"take", EKI_CONCERNS_SERVER, false, false, true},
    [EKI_KIND_HAND] = {"hand", EKI_CONCERNS_SERVER, true, true, true},
    [EKI_KIND_GET] = {"get", EKI_CONCERNS_SERVER, false, false, true},
    [EKI_KIND_PIECE] = {"piece", EKI_CONCERNS_WORKER, false, false, true},
    [EKI_KIND_PUT] = {"put", EKI_CONCERNS_SERVER, false, false, true},
    [EKI_KIND_ADD] = {"add", EKI_CONCERNS_SERVER, false, false, true},
    [EKI_KIND_DONE] = {"done", EKI_CONCERNS_WORKER, false, false, true},
    [EKI_KIND_ASK] = {"ask", EKI_CONCERNS_SERVER, false, false, true},
    [EKI_KIND_INPUT] = {"input", EKI_CONCERNS_WORKER, false, false, true},
    [EKI_KIND_RESULT] = {"result", EKI_CONCERNS_SERVER, false, false, true},
    [EKI_KIND_GIVE] = {"give", EKI_CONCERNS_SERVER, false, false, true},
    [EKI_KIND_KEPT] = {"kept", EKI_CONCERNS_WORKER, false, false, true}};

const struct eki_kind_traits *eki_kind_traits_of(int kind)
{
    return &kinds[kind > 0 && kind < EKI_KINDS ? kind : 0];
}
