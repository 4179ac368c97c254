// SPDX-License-Identifier: BSD-3-Clause
/*
 * Uncore PMUs of a server's memory controllers, without the controllers: uncore_imc_0 to _3 on each
 * socket, in the form of Linux's own driver (events and formats in sysfs, one cpumask CPU a socket,
 * no task events, no sampling, no exclusion). What they count is written to /proc/fake_imc, a line
 * at a time: SOCKET CONTROLLER READS WRITES.
 *
 * Parameters, writable while loaded, inject the faults that a verification must find.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/proc_fs.h>
#include <linux/topology.h>
#include <linux/uaccess.h>

#define CONTROLLERS 4
#define SOCKETS 2
#define READ_EVENT 0x0304
#define WRITE_EVENT 0x0c04

static uint times = 1;
module_param(times, uint, 0644);
MODULE_PARM_DESC(times, "Counts of every event are multiplied by this: a wrong scale");
static int silent_socket = -1;
module_param(silent_socket, int, 0644);
MODULE_PARM_DESC(silent_socket, "Socket whose controllers count nothing");
static int silent_controller = -1;
module_param(silent_controller, int, 0644);
MODULE_PARM_DESC(silent_controller, "Controller that counts nothing, on every socket");
static bool dead_reads;
module_param(dead_reads, bool, 0644);
MODULE_PARM_DESC(dead_reads, "Reads are counted nowhere");
static bool dead_writes;
module_param(dead_writes, bool, 0644);
MODULE_PARM_DESC(dead_writes, "Writes are counted nowhere");

struct controller {
	struct pmu pmu;
	int number;
	atomic64_t counts[SOCKETS][2];
};

static struct controller controllers[CONTROLLERS];
static cpumask_t first_cpus;

static struct controller *controller_of(struct perf_event *event)
{
	return container_of(event->pmu, struct controller, pmu);
}

static u64 count_of(struct perf_event *event)
{
	struct controller *mine = controller_of(event);
	int socket = topology_physical_package_id(event->cpu);

	return atomic64_read(&mine->counts[socket][event->attr.config == WRITE_EVENT]);
}

static int fake_init(struct perf_event *event)
{
	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (is_sampling_event(event) || event->attach_state & PERF_ATTACH_TASK || event->cpu < 0)
		return -EINVAL;
	if (event->attr.config != READ_EVENT && event->attr.config != WRITE_EVENT)
		return -EINVAL;
	if (topology_physical_package_id(event->cpu) >= SOCKETS)
		return -EINVAL;
	return 0;
}

static void fake_read(struct perf_event *event)
{
	u64 now = count_of(event);
	u64 before = local64_xchg(&event->hw.prev_count, now);

	local64_add(now - before, &event->count);
}

static void fake_start(struct perf_event *event, int flags)
{
	local64_set(&event->hw.prev_count, count_of(event));
	event->hw.state = 0;
}

static void fake_stop(struct perf_event *event, int flags)
{
	if (!(event->hw.state & PERF_HES_STOPPED))
		fake_read(event);
	event->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int fake_add(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		fake_start(event, flags);
	return 0;
}

static void fake_del(struct perf_event *event, int flags)
{
	fake_stop(event, PERF_EF_UPDATE);
}

PMU_FORMAT_ATTR(event, "config:0-7");
PMU_FORMAT_ATTR(umask, "config:8-15");
static struct attribute *format_attributes[] = { &format_attr_event.attr, &format_attr_umask.attr,
						 NULL };
static const struct attribute_group format_group = { .name = "format",
						     .attrs = format_attributes };

PMU_EVENT_ATTR_STRING(cas_count_read, cas_count_read, "event=0x04,umask=0x03");
PMU_EVENT_ATTR_STRING(cas_count_read.scale, cas_count_read_scale, "6.103515625e-5");
PMU_EVENT_ATTR_STRING(cas_count_read.unit, cas_count_read_unit, "MiB");
PMU_EVENT_ATTR_STRING(cas_count_write, cas_count_write, "event=0x04,umask=0x0c");
PMU_EVENT_ATTR_STRING(cas_count_write.scale, cas_count_write_scale, "6.103515625e-5");
PMU_EVENT_ATTR_STRING(cas_count_write.unit, cas_count_write_unit, "MiB");
static struct attribute *event_attributes[] = {
	&cas_count_read.attr.attr,  &cas_count_read_scale.attr.attr,  &cas_count_read_unit.attr.attr,
	&cas_count_write.attr.attr, &cas_count_write_scale.attr.attr, &cas_count_write_unit.attr.attr,
	NULL
};
static const struct attribute_group events_group = { .name = "events", .attrs = event_attributes };

static ssize_t cpumask_show(struct device *device, struct device_attribute *attribute, char *buffer)
{
	return cpumap_print_to_pagebuf(true, buffer, &first_cpus);
}
static DEVICE_ATTR_RO(cpumask);
static struct attribute *cpumask_attributes[] = { &dev_attr_cpumask.attr, NULL };
static const struct attribute_group cpumask_group = { .attrs = cpumask_attributes };

static const struct attribute_group *groups[] = { &format_group, &events_group, &cpumask_group,
						  NULL };

static bool counts(int socket, int controller, bool write)
{
	return socket != silent_socket && controller != silent_controller &&
	       !(write ? dead_writes : dead_reads);
}

static ssize_t feed(struct file *file, const char __user *from, size_t length, loff_t *position)
{
	char line[128];
	int socket, controller;
	u64 reads, writes;
	size_t size = min(length, sizeof(line) - 1);

	if (copy_from_user(line, from, size))
		return -EFAULT;
	line[size] = '\0';
	if (sscanf(line, "%d %d %llu %llu", &socket, &controller, &reads, &writes) != 4 ||
	    socket < 0 || socket >= SOCKETS || controller < 0 || controller >= CONTROLLERS)
		return -EINVAL;
	if (counts(socket, controller, false))
		atomic64_add(reads * times, &controllers[controller].counts[socket][0]);
	if (counts(socket, controller, true))
		atomic64_add(writes * times, &controllers[controller].counts[socket][1]);
	return length;
}

static const struct proc_ops feed_operations = { .proc_write = feed };

static int __init fake_imc_init(void)
{
	static char names[CONTROLLERS][32];
	int cpu, controller, failed;

	for_each_online_cpu(cpu) {
		if (cpu == cpumask_first(topology_core_cpumask(cpu)))
			cpumask_set_cpu(cpu, &first_cpus);
	}
	for (controller = 0; controller < CONTROLLERS; controller++) {
		struct controller *mine = &controllers[controller];

		mine->number = controller;
		mine->pmu = (struct pmu){
			.module = THIS_MODULE,
			.task_ctx_nr = perf_invalid_context,
			.capabilities = PERF_PMU_CAP_NO_EXCLUDE | PERF_PMU_CAP_NO_INTERRUPT,
			.attr_groups = groups,
			.event_init = fake_init,
			.add = fake_add,
			.del = fake_del,
			.start = fake_start,
			.stop = fake_stop,
			.read = fake_read,
		};
		snprintf(names[controller], sizeof(names[controller]), "uncore_imc_%d", controller);
		failed = perf_pmu_register(&mine->pmu, names[controller], -1);
		if (failed)
			goto unregister;
	}
	if (!proc_create("fake_imc", 0200, NULL, &feed_operations)) {
		failed = -ENOMEM;
		goto unregister;
	}
	return 0;

unregister:
	while (--controller >= 0)
		perf_pmu_unregister(&controllers[controller].pmu);
	return failed;
}

static void __exit fake_imc_exit(void)
{
	int controller;

	remove_proc_entry("fake_imc", NULL);
	for (controller = 0; controller < CONTROLLERS; controller++)
		perf_pmu_unregister(&controllers[controller].pmu);
}

module_init(fake_imc_init);
module_exit(fake_imc_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("Memory-controller PMUs that count what is written to /proc/fake_imc");
