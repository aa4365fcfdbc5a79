/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring: what sws.pml and sdc.pml have in common: tasks that run once, slots that
 * thieves copy blocks from, and completions that are under way.
 *
 * Before it a model defines THIEVES, RING (slots), ALL (tasks), COMPLETIONS, and
 * slot_at(position).  It has the processes owner and thief.
 */
byte done[COMPLETIONS], on_its_way[COMPLETIONS], on_their_way;
byte slot[RING];

/* Nobody's. */
bool ran[ALL], over;
byte runs;

#define blocks(count) ((count) < 3 -> (count) : 3) /* ceil(log2 n) + 1 */
#define remaining(count, i) \
    ((i) >= blocks(count) -> 0 : (((count) - 1) >> (i)) + 1)

inline run_task(id)
{
    assert(!ran[id]);
    ran[id] = true;
    runs++
}

inline complete(at, count)
{
    on_its_way[at] = on_its_way[at] + count;
    on_their_way = on_their_way + count
}

/* The get of a block, its completion and the tasks; a slot a step. */
inline get_and_run(at)
{
#ifdef COMPLETE_FIRST
    atomic { complete(at, count) }
#endif
    do
    :: i < count ->
        copy[i] = slot_at(first + i);
        i++
    :: else -> break
    od;
    atomic {
        i = 0;
        do
        :: i < count ->
            run_task(copy[i]);
            copy[i] = 0;
            i++
        :: else -> break
        od;
#ifndef COMPLETE_FIRST
        complete(at, count);
#endif
        i = 0;
        first = 0;
        count = 0
    }
}

/* Completions arrive in any order. */
proctype network()
{
    byte at;
    do
    :: over -> break
    :: atomic {
           on_their_way > 0 ->
           do
           :: on_its_way[at] > 0 -> break
           :: at + 1 < COMPLETIONS -> at++
           :: else -> break
           od;
           done[at] = done[at] + on_its_way[at];
           on_their_way = on_their_way - on_its_way[at];
           on_its_way[at] = 0;
           at = 0
       }
    od
}

init {
    byte t;
    atomic {
        run owner();
        run network();
        do
        :: t < THIEVES ->
            run thief();
            t++
        :: else -> break
        od
    }
}
