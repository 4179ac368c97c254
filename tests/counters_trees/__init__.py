"""Made-up sysfs trees of PMUs that are not at hand.

`sysfs` builds trees; `machines` has the real formats of many platforms, for encodings;
`tracepoints` has trees whose PMUs really open here, being tracepoints of rare system calls.
"""
