/* A scripted stand-in for the NVIDIA management library, with the entry points and layouts of the
   NVML API Reference Guide. A test says with fake_set() what each call answers. */

#include <stdio.h>
#include <string.h>
#include <time.h>

typedef int Return;
typedef struct {
    int index;
} Device;
typedef struct {
    unsigned field, scope;
    long long timestamp_us, latency_us;
    int type, result;
    union {
        double d;
        unsigned u;
        unsigned long long ull;
        long long sll;
        int si;
    } value;
} Field;

enum { SUCCESS = 0, NOT_SUPPORTED = 3, most_answers = 64, most_devices = 8 };

static struct Answer {
    char call[48];
    Return result;
    unsigned long long value;
    int type;
    int calls;
    long delay_us;
} answers[most_answers];
static Device devices[most_devices];

static struct Answer* answer(const char* call) {
    int at = 0;
    while (at < most_answers - 1 && answers[at].call[0] != 0 && strcmp(answers[at].call, call) != 0)
        ++at;
    if (answers[at].call[0] == 0) {
        snprintf(answers[at].call, sizeof answers[at].call, "%s", call);
        answers[at].result = NOT_SUPPORTED;
        answers[at].type = 3;
    }
    return &answers[at];
}

void fake_set(const char* call, int result, unsigned long long value, int type, long delay_us) {
    struct Answer* one = answer(call);
    one->result = result;
    one->value = value;
    one->type = type;
    one->delay_us = delay_us;
}

int fake_calls(const char* call) {
    return answer(call)->calls;
}

static struct Answer* asked(const char* call) {
    struct Answer* one = answer(call);
    ++one->calls;
    if (one->delay_us > 0) {
        struct timespec delay = {one->delay_us / 1000000, one->delay_us % 1000000 * 1000};
        nanosleep(&delay, NULL);
    }
    return one;
}

/* Per device where the script has `call.INDEX`, else for all. */
static struct Answer* asked_of(Device* device, const char* call) {
    char own[64];
    snprintf(own, sizeof own, "%s.%d", call, device->index);
    for (int at = 0; at < most_answers; ++at)
        if (strcmp(answers[at].call, own) == 0) return asked(own);
    return asked(call);
}

Return nvmlInit_v2(void) {
    return asked("init")->result;
}
Return nvmlShutdown(void) {
    return asked("shutdown")->result;
}

const char* nvmlErrorString(Return result) {
    switch (result) {
        case 0:
            return "Success";
        case 3:
            return "Not Supported";
        case 4:
            return "Insufficient Permissions";
        case 9:
            return "Driver Not Loaded";
        case 13:
            return "Function Not Found";
        case 15:
            return "GPU is lost";
        default:
            return "Unknown Error";
    }
}

Return nvmlSystemGetDriverVersion(char* into, unsigned bytes) {
    snprintf(into, bytes, "570.00");
    return SUCCESS;
}

Return nvmlDeviceGetCount_v2(unsigned* count) {
    struct Answer* one = asked("count");
    *count = (unsigned)one->value;
    return one->result;
}

Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device** device) {
    if (index >= most_devices) return 2;
    devices[index].index = (int)index;
    *device = &devices[index];
    return asked_of(*device, "handle")->result;
}

Return nvmlDeviceGetName(Device* device, char* into, unsigned bytes) {
    snprintf(into, bytes, "Fake GPU %d", device->index);
    return SUCCESS;
}

Return nvmlDeviceGetUUID(Device* device, char* into, unsigned bytes) {
    snprintf(into, bytes, "GPU-%d", device->index);
    return SUCCESS;
}

Return nvmlDeviceGetPciInfo_v3(Device* device, char* info) {
    /* bus_id is the last of 16 + 5 * 4 + 32 bytes */
    snprintf(info + 36, 32, "00000000:%02X:00.0", 0x3a + device->index);
    return SUCCESS;
}

Return nvmlDeviceGetMigMode(Device* device, unsigned* current, unsigned* pending) {
    struct Answer* one = asked_of(device, "mig");
    *current = *pending = (unsigned)one->value;
    return one->result;
}

#define SIMPLE(function, call)                         \
    Return function(Device* device, unsigned* value) { \
        struct Answer* one = asked_of(device, call);   \
        *value = (unsigned)one->value;                 \
        return one->result;                            \
    }
SIMPLE(nvmlDeviceGetPowerUsage, "power")

Return nvmlDeviceGetTotalEnergyConsumption(Device* device, unsigned long long* value) {
    struct Answer* one = asked_of(device, "energy");
    *value = one->value;
    return one->result;
}

Return nvmlDeviceGetClockInfo(Device* device, int type, unsigned* value) {
    struct Answer* one = asked_of(device, type == 1 ? "sm_clock" : "memory_clock");
    *value = (unsigned)one->value;
    return one->result;
}

Return nvmlDeviceGetTemperature(Device* device, int sensor, unsigned* value) {
    struct Answer* one = asked_of(device, "temperature");
    *value = (unsigned)one->value;
    return sensor == 0 ? one->result : 2;
}

Return nvmlDeviceGetMemoryInfo(Device* device, unsigned long long* total_free_used) {
    struct Answer* one = asked_of(device, "memory");
    total_free_used[0] = 1ULL << 40;
    total_free_used[1] = (1ULL << 40) - one->value;
    total_free_used[2] = one->value;
    return one->result;
}

Return nvmlDeviceGetUtilizationRates(Device* device, unsigned* gpu_memory) {
    struct Answer* one = asked_of(device, "utilisation");
    gpu_memory[0] = (unsigned)one->value;
    gpu_memory[1] = (unsigned)one->value / 2;
    return one->result;
}

Return nvmlDeviceGetPcieThroughput(Device* device, int counter, unsigned* value) {
    (void)device, (void)counter;
    *value = 1;
    return asked("pcie_throughput")->result;
}

Return nvmlDeviceGetFieldValues(Device* device, int count, Field* fields) {
    struct Answer* batch = asked_of(device, "fields");
    if (batch->result != SUCCESS) return batch->result;
    for (int at = 0; at < count; ++at) {
        char call[16];
        snprintf(call, sizeof call, "field%u", fields[at].field);
        struct Answer* one = asked_of(device, call);
        int all_links = fields[at].field == 138 || fields[at].field == 139;
        fields[at].result = all_links && fields[at].scope != ~0U ? 2 : one->result;
        fields[at].type = one->type;
        fields[at].value.ull = 0;
        switch (one->type) {
            case 0:
                fields[at].value.d = (double)one->value;
                break;
            case 1:
                fields[at].value.u = (unsigned)one->value;
                break;
            case 5:
                fields[at].value.si = (int)one->value;
                break;
            default:
                fields[at].value.ull = one->value;
        }
    }
    return SUCCESS;
}
