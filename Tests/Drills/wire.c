// Carries frames between two interfaces, and delays them, because the kernel may lack netem.
// Usage: wire INTERFACE INTERFACE MICROSECONDS. In order, in both directions, to some 50 µs; frames of all sizes, with the
// checksums and segments that the sender left to the hardware (PACKET_VNET_HDR, packet(7)).

#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <arpa/inet.h>

enum { LARGEST = 10 + 14 + 65536, WAITING = 1 << 14 };

struct frame {
    int64_t due;
    ssize_t size;
    char *bytes;
};

// Frames of one direction, in the order in which they came, so also in the order in which they are due.
struct direction {
    int from, to;
    unsigned first, last;
    struct frame frames[WAITING];
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static int open_end(const char *name) {
    int end = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, htons(ETH_P_ALL));
    int on = 1, room = 64 << 20;
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(name)};
    struct packet_mreq all = {.mr_ifindex = address.sll_ifindex, .mr_type = PACKET_MR_PROMISC};
    if (end < 0 || address.sll_ifindex == 0 ||
        setsockopt(end, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on) != 0 ||
        // Otherwise what is sent here would come in here, too.
        setsockopt(end, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) != 0 ||
        setsockopt(end, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0 ||
        setsockopt(end, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room) != 0 ||
        bind(end, (struct sockaddr *)&address, sizeof address) != 0 ||
        setsockopt(end, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all) != 0) {
        err(1, "%s", name);
    }
    return end;
}

static void receive(struct direction *direction, int64_t delay) {
    static char bytes[LARGEST];
    ssize_t size = 0;
    while (direction->last - direction->first < WAITING &&
           (size = recv(direction->from, bytes, sizeof bytes, 0)) > 0) {
        struct frame *frame = &direction->frames[direction->last++ % WAITING];
        if ((frame->bytes = malloc((size_t)size)) == NULL) err(1, "malloc");
        memcpy(frame->bytes, bytes, (size_t)size);
        frame->size = size;
        frame->due = now() + delay;
    }
    if (size < 0 && errno != EAGAIN) warn("a frame was lost");
}

// Sends what is due, and returns when the next one is.
static int64_t send_due(struct direction *direction, int64_t next) {
    while (direction->first != direction->last) {
        struct frame *frame = &direction->frames[direction->first % WAITING];
        if (frame->due > now()) return frame->due < next ? frame->due : next;
        if (write(direction->to, frame->bytes, (size_t)frame->size) != frame->size)
            warn("a frame of %zd bytes was lost", frame->size);
        free(frame->bytes);
        direction->first++;
    }
    return next;
}

int main(int count, char **arguments) {
    static struct direction there, back;
    if (count != 4) errx(64, "usage: wire INTERFACE INTERFACE MICROSECONDS");
    int64_t delay = atoll(arguments[3]) * 1000;
    there.from = back.to = open_end(arguments[1]);
    there.to = back.from = open_end(arguments[2]);
    // The timer's own delay would be 50 µs.
    prctl(PR_SET_TIMERSLACK, 1UL);
    for (;;) {
        receive(&there, delay);
        receive(&back, delay);
        int64_t next = send_due(&back, send_due(&there, INT64_MAX));
        int64_t wait = next == INT64_MAX ? 1000000000 : next - now();
        struct timespec time = {.tv_sec = wait > 0 ? wait / 1000000000 : 0, .tv_nsec = wait > 0 ? wait % 1000000000 : 0};
        struct pollfd ends[] = {{.fd = there.from, .events = POLLIN}, {.fd = back.from, .events = POLLIN}};
        if (ppoll(ends, 2, &time, NULL) < 0) err(1, "ppoll");
    }
}
