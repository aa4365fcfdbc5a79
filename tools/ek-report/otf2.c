/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A timeline as an archive of OTF2: a location per worker and server, a group
 * of them per rank, a node per host, a region per function and per state.
 * Values of states are attributes, those of points are parameters.
 */
#include "timeline.h"

#ifdef REPORT_HAS_OTF2

#include <inttypes.h>
#include <otf2/otf2.h>
#include <string.h>

enum {
    EVENT_CHUNK = 1 << 20,
    DEFINITION_CHUNK = 1 << 22
};

struct otf2 {
    const struct timeline *timeline;
    const struct eki_timelines_file *file;
    OTF2_Archive *archive;
    OTF2_GlobalDefWriter *definitions;
    OTF2_EvtWriter *events; /* of the track that is walked over */
    OTF2_AttributeList *attributes;
    bool is_open; /* a region, which is left at END_NS */
    OTF2_RegionRef region;
    uint64_t end_ns;
    /* How many there are; numbers have no gaps. */
    uint32_t strings, regions, attributes_defined, parameters, nodes, groups;
    uint32_t region_of_kind[EKI_EVENT_KINDS_READ];
    uint32_t value_of_kind[EKI_EVENT_KINDS_READ]; /* the first of two */
    OTF2_ErrorCode failure;                       /* the first */
};

static void note(struct otf2 *otf2, OTF2_ErrorCode code)
{
    if (otf2->failure == OTF2_SUCCESS)
        otf2->failure = code;
}

static OTF2_StringRef string_of(struct otf2 *otf2, const char *text)
{
    note(otf2, OTF2_GlobalDefWriter_WriteString(otf2->definitions,
                                                otf2->strings, text));
    return otf2->strings++;
}

static uint64_t time_of(const struct otf2 *otf2, int64_t at_ns)
{
    return (uint64_t)(at_ns - otf2->timeline->files.begin_ns);
}

static OTF2_RegionRef region_of(const struct otf2 *otf2,
                                const struct eki_timelines_span *span)
{
    uint32_t functions = (uint32_t)otf2->timeline->files.function_count;
    bool is_known = span->function >= 0 && (uint32_t)span->function < functions;
    return is_known ? (uint32_t)span->function
                    : otf2->region_of_kind[span->kind];
}

static void leave_region(struct otf2 *otf2)
{
    if (otf2->is_open)
        note(otf2, OTF2_EvtWriter_Leave(otf2->events, NULL, otf2->end_ns,
                                        otf2->region));
    otf2->is_open = false;
}

static void write_event(void *context, const struct eki_timelines_span *span)
{
    struct otf2 *otf2 = context;
    const struct timeline_kind *kind = &timeline_kinds[span->kind];
    const char *keys[2] = {kind->first, kind->second};
    uint64_t values[2], begin_ns = time_of(otf2, span->begin_ns);
    bool is_point = eki_event_is_point(span->kind);
    if (timeline_is_nothing(span))
        return;
    timeline_values(span, values);
    if (!is_point || begin_ns > otf2->end_ns)
        leave_region(otf2);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t number = otf2->value_of_kind[span->kind] + i;
        if (!keys[i])
            continue;
        note(otf2, is_point
                       ? OTF2_EvtWriter_ParameterUnsignedInt(
                             otf2->events, NULL, begin_ns, number, values[i])
                       : OTF2_AttributeList_AddUint64(otf2->attributes, number,
                                                      values[i]));
    }
    if (is_point)
        return;
    otf2->is_open = true;
    otf2->region = region_of(otf2, span);
    otf2->end_ns = time_of(otf2, span->end_ns);
    note(otf2, OTF2_EvtWriter_Enter(otf2->events, otf2->attributes, begin_ns,
                                    otf2->region));
}

/* Tracks are numbered as workers, then servers. */
static uint64_t location_of(const struct otf2 *otf2, int track)
{
    const struct eki_timelines_file *file = otf2->file;
    return (uint64_t)(track < file->here
                          ? file->first + track
                          : otf2->timeline->files.workers + file->rank);
}

static bool write_track(struct otf2 *otf2, int track)
{
    char name[40];
    uint64_t count = 0, location = location_of(otf2, track);
    otf2->events = OTF2_Archive_GetEvtWriter(otf2->archive, location);
    otf2->is_open = false;
    otf2->end_ns = 0;
    if (!otf2->events ||
        eki_timelines_walk(otf2->file, track, write_event, otf2) != EK_OK)
        return false;
    leave_region(otf2);
    note(otf2, OTF2_EvtWriter_GetNumberOfEvents(otf2->events, &count));
    note(otf2, OTF2_Archive_CloseEvtWriter(otf2->archive, otf2->events));
    timeline_track_name(otf2->file, track, name, sizeof name);
    note(otf2, OTF2_GlobalDefWriter_WriteLocation(
                   otf2->definitions, location, string_of(otf2, name),
                   OTF2_LOCATION_TYPE_CPU_THREAD, count, otf2->groups - 1));
    return true;
}

static void define_region(struct otf2 *otf2, const char *name,
                          OTF2_RegionRole role)
{
    OTF2_StringRef string = string_of(otf2, name);
    note(otf2, OTF2_GlobalDefWriter_WriteRegion(
                   otf2->definitions, otf2->regions++, string, string, 0, role,
                   OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, 0, 0, 0));
}

/* What a value of a state or a point is. */
static void define_value(struct otf2 *otf2, int kind, const char *key)
{
    char name[80];
    if (!key)
        return;
    snprintf(name, sizeof name, "%s: %s", timeline_kinds[kind].word, key);
    OTF2_StringRef string = string_of(otf2, name);
    note(otf2, eki_event_is_point(kind)
                   ? OTF2_GlobalDefWriter_WriteParameter(
                         otf2->definitions, otf2->parameters++, string,
                         OTF2_PARAMETER_TYPE_UINT64)
                   : OTF2_GlobalDefWriter_WriteAttribute(
                         otf2->definitions, otf2->attributes_defined++, string,
                         0, OTF2_TYPE_UINT64));
}

static void define_all(struct otf2 *otf2)
{
    const struct eki_timelines *files = &otf2->timeline->files;
    string_of(otf2, "");
    note(otf2, OTF2_GlobalDefWriter_WriteClockProperties(
                   otf2->definitions, 1000000000, 0,
                   time_of(otf2, files->end_ns) + 1, OTF2_UNDEFINED_TIMESTAMP));
    for (int i = 0; i < files->function_count; i++)
        define_region(otf2, files->functions[i], OTF2_REGION_ROLE_TASK);
    for (int kind = 0; kind < EKI_EVENT_KINDS_READ; kind++) {
        const struct timeline_kind *at = &timeline_kinds[kind];
        bool is_point = eki_event_is_point(kind);
        otf2->region_of_kind[kind] = otf2->regions;
        otf2->value_of_kind[kind] =
            is_point ? otf2->parameters : otf2->attributes_defined;
        if (at->word && !is_point)
            define_region(otf2, at->word, OTF2_REGION_ROLE_FUNCTION);
        define_value(otf2, kind, at->first);
        define_value(otf2, kind, at->second);
    }
    OTF2_StringRef name = string_of(otf2, files->name);
    note(otf2, OTF2_GlobalDefWriter_WriteSystemTreeNode(
                   otf2->definitions, otf2->nodes++, name,
                   string_of(otf2, "job"), OTF2_UNDEFINED_SYSTEM_TREE_NODE));
}

/* The rank of the file, on the node of the one before if that is on HOST. */
static void define_rank(struct otf2 *otf2, const char *host)
{
    char name[40];
    const struct eki_timelines_file *file = otf2->file;
    if (!host || strcmp(host, file->host) != 0) {
        OTF2_StringRef string = string_of(otf2, file->host);
        note(otf2, OTF2_GlobalDefWriter_WriteSystemTreeNode(
                       otf2->definitions, otf2->nodes++, string,
                       string_of(otf2, "node"), 0));
    }
    snprintf(name, sizeof name, "rank %d", file->rank);
    note(otf2, OTF2_GlobalDefWriter_WriteLocationGroup(
                   otf2->definitions, otf2->groups++, string_of(otf2, name),
                   OTF2_LOCATION_GROUP_TYPE_PROCESS, otf2->nodes - 1,
                   OTF2_UNDEFINED_LOCATION_GROUP));
}

/* Each location has definitions of its own, without any. */
static void close_definitions(struct otf2 *otf2)
{
    const struct eki_timelines *files = &otf2->timeline->files;
    note(otf2, OTF2_Archive_CloseEvtFiles(otf2->archive));
    note(otf2, OTF2_Archive_OpenDefFiles(otf2->archive));
    for (int i = 0; i < files->ranks; i++) {
        otf2->file = &files->files[i];
        for (int t = 0; otf2->file->path && t <= otf2->file->here; t++) {
            OTF2_DefWriter *writer =
                OTF2_Archive_GetDefWriter(otf2->archive, location_of(otf2, t));
            note(otf2, OTF2_Archive_CloseDefWriter(otf2->archive, writer));
        }
    }
    note(otf2, OTF2_Archive_CloseDefFiles(otf2->archive));
}

static OTF2_FlushType flush(void *data, OTF2_FileType type,
                            OTF2_LocationRef location, void *caller,
                            bool is_final)
{
    (void)data, (void)type, (void)location, (void)caller, (void)is_final;
    return OTF2_FLUSH;
}

/* Errors are told by us. */
static OTF2_ErrorCode say_nothing(void *data, const char *file, uint64_t line,
                                  const char *function, OTF2_ErrorCode code,
                                  const char *format, va_list arguments)
{
    (void)data, (void)file, (void)line, (void)function;
    (void)format, (void)arguments;
    return code;
}

static bool write_ranks(struct otf2 *otf2)
{
    const struct eki_timelines *files = &otf2->timeline->files;
    const char *host = NULL;
    for (int i = 0; i < files->ranks; i++) {
        otf2->file = &files->files[i];
        if (!otf2->file->path)
            continue;
        define_rank(otf2, host);
        host = otf2->file->host;
        for (int t = 0; t <= otf2->file->here; t++) {
            if (!write_track(otf2, t))
                return false;
        }
    }
    return true;
}

bool write_otf2(const struct timeline *timeline, const char *folder,
                struct message *message)
{
    static OTF2_FlushCallbacks callbacks = {.otf2_pre_flush = flush};
    struct otf2 otf2 = {.timeline = timeline, .failure = OTF2_SUCCESS};
    OTF2_Error_RegisterCallback(say_nothing, NULL);
    otf2.archive = OTF2_Archive_Open(
        folder, "evenkeel", OTF2_FILEMODE_WRITE, EVENT_CHUNK, DEFINITION_CHUNK,
        OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!otf2.archive)
        return message_set(message,
                           "--otf2 is '%.300s': no archive can be made there; "
                           "allowed: a folder without one",
                           folder);
    note(&otf2, OTF2_Archive_SetFlushCallbacks(otf2.archive, &callbacks, NULL));
    note(&otf2, OTF2_Archive_SetSerialCollectiveCallbacks(otf2.archive));
    note(&otf2, OTF2_Archive_SetCreator(otf2.archive, "Evenkeel"));
    note(&otf2, OTF2_Archive_OpenEvtFiles(otf2.archive));
    otf2.definitions = OTF2_Archive_GetGlobalDefWriter(otf2.archive);
    otf2.attributes = OTF2_AttributeList_New();
    define_all(&otf2);
    bool is_read = write_ranks(&otf2);
    close_definitions(&otf2);
    OTF2_AttributeList_Delete(otf2.attributes);
    note(&otf2, OTF2_Archive_Close(otf2.archive));
    if (!is_read)
        return message_set(message, "%s", ek_error_message());
    return otf2.failure == OTF2_SUCCESS ||
           message_set(message, "could not write everything to '%.300s': %s",
                       folder, OTF2_Error_GetDescription(otf2.failure));
}

#else

bool write_otf2(const struct timeline *timeline, const char *folder,
                struct message *message)
{
    (void)timeline, (void)folder;
    return message_set(message,
                       "--otf2: this ek-report was built without libotf2; "
                       "install it (Debian: libotf2-trace-dev) and build "
                       "again");
}

#endif
