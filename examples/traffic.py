"""How much memory traffic a piece of this program causes, by socket; needs access to counters."""

import memgauge

with memgauge.counters("auto") as reading:
    data = bytearray(1 << 28)
    copy = bytes(data)

print(f"{reading.seconds:.3f} s")
for socket, traffic in reading.by_socket.items():
    print(f"socket {socket}: {traffic.read_bytes} B read, {traffic.write_bytes} B written")
for counter in reading.counters:
    trust = counter.verdict.verdict if counter.verdict else "never verified"
    print(f"{counter.name}: {trust}")
