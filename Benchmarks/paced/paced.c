/* An open-loop load generator: HTTP/2 over TLS at a fixed rate, without coordinated omission.

   Every request is due at a fixed time. It is sent then, however many are unanswered, and its latency counts from then: also
   if the generator or a connection was late. (h2load --rps and vegeta measure from when a request was sent.)

   Usage: paced load PORT CA FILE CONNECTIONS RATE SECONDS STATUS LATENCIES
          paced shake PORT CA (full | resumed) THREADS SECONDS

   load: FILE has requests of HTTP/1.1, as requests.lua reads them; they are sent in turn, from the beginning again after the
   last one. RATE is requests per second for all connections together; 0: as many as the server answers, AT_ONCE at a time.
   A connection that the server ends is replaced, with the TLS session of an earlier one, and requests that the server has not
   begun are sent again. Prints one JSON object. LATENCIES gets the microseconds of each answer, as 32-bit integers.

   shake: connects, and ends the connection once the server has sent a byte, again and again. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { AT_ONCE = 64, MAX_FIELDS = 32, PATIENCE = 10 };
static const char HOST[] = "id.example.com";

__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("paced: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static void *must(void *pointer)
{
    if (!pointer) die("out of memory");
    return pointer;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* --- TLS -------------------------------------------------------------------------------------------------------------- */

static SSL_CTX *tls;
static int port;
/* The newest session that the server gave. */
static SSL_SESSION *session;

static int keep_session(SSL *ssl, SSL_SESSION *given)
{
    (void)ssl;
    if (session) SSL_SESSION_free(session);
    session = given;
    return 1;
}

static void prepare_tls(const char *authority)
{
    tls = must(SSL_CTX_new(TLS_client_method()));
    if (SSL_CTX_load_verify_locations(tls, authority, NULL) != 1) die("%s: cannot be read", authority);
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_session_cache_mode(tls, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    static const unsigned char protocols[] = {2, 'h', '2'};
    SSL_CTX_set_alpn_protos(tls, protocols, sizeof protocols);
}

static SSL *connected(SSL_SESSION *resumed)
{
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (descriptor < 0 || connect(descriptor, (struct sockaddr *)&address, sizeof address)) die("connect: %s", strerror(errno));
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    SSL *ssl = must(SSL_new(tls));
    SSL_set_fd(ssl, descriptor);
    SSL_set_tlsext_host_name(ssl, HOST);
    SSL_set1_host(ssl, HOST);
    if (resumed) SSL_set_session(ssl, resumed);
    return ssl;
}

/* --- Requests --------------------------------------------------------------------------------------------------------- */

struct request {
    nghttp2_nv fields[MAX_FIELDS];
    size_t count;
    const uint8_t *body;
    size_t length;
};
static struct request *requests;
static size_t request_count;

static void add_field(struct request *request, const char *name, size_t name_length, const char *value, size_t length)
{
    if (request->count == MAX_FIELDS) die("a request has more than %d fields", MAX_FIELDS);
    char *lower = must(strndup(name, name_length));
    for (char *each = lower; *each; each++)
        if (*each >= 'A' && *each <= 'Z') *each += 'a' - 'A';
    request->fields[request->count++] = (nghttp2_nv){
        (uint8_t *)lower, (uint8_t *)must(strndup(value, length)), name_length, length, NGHTTP2_NV_FLAG_NONE};
}

static void parse(struct request *request, char *text, size_t length)
{
    char *space = must(strchr(text, ' ')), *path = space + 1, *end = must(strchr(path, ' '));
    add_field(request, ":method", 7, text, (size_t)(space - text));
    add_field(request, ":scheme", 7, "https", 5);
    add_field(request, ":authority", 10, HOST, sizeof HOST - 1);
    add_field(request, ":path", 5, path, (size_t)(end - path));
    for (char *line = must(strstr(end, "\r\n")) + 2; *line != '\r'; line = strstr(line, "\r\n") + 2) {
        char *colon = must(strchr(line, ':')), *stop = must(strstr(line, "\r\n"));
        if (strncasecmp(line, "host:", 5)) add_field(request, line, (size_t)(colon - line), colon + 2, (size_t)(stop - colon - 2));
    }
    char *body = must(strstr(text, "\r\n\r\n")) + 4;
    request->body = (uint8_t *)body;
    request->length = length - (size_t)(body - text);
}

static void read_requests(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) die("%s: %s", path, strerror(errno));
    char digits[9] = "";
    while (fread(digits, 8, 1, file) == 1) {
        size_t length = strtoul(digits, NULL, 10);
        char *text = must(calloc(length + 1, 1));
        if (fread(text, length, 1, file) != 1) die("%s ends within a request", path);
        requests = must(realloc(requests, (request_count + 1) * sizeof *requests));
        memset(&requests[request_count], 0, sizeof *requests);
        parse(&requests[request_count++], text, length);
    }
    fclose(file);
    if (!request_count) die("%s has no request", path);
}

/* --- Connections ------------------------------------------------------------------------------------------------------ */

struct connection {
    SSL *ssl;
    nghttp2_session *http;
    bool is_ready;
    /* The server takes no more requests on it; another one has its place. */
    bool is_leaving;
    uint32_t events;
};

struct stream {
    const struct request *request;
    size_t sent;
    double due;
    int status;
};

static struct connection **places;
static size_t place_count, next_place, next_request;
static int poller;
static double rate;
static int expected;
static uint32_t *latencies;
static size_t answered, capacity, wrong, in_flight, reconnects, repeated;
/* Requests whose connection has ended before the server began them. */
static struct stream **again;
static size_t again_count;
static bool is_over;

static struct connection *open_connection(void);

static ssize_t give_body(nghttp2_session *http, int32_t id, uint8_t *buffer, size_t length, uint32_t *flags,
                         nghttp2_data_source *source, void *user)
{
    (void)http, (void)id, (void)user;
    struct stream *stream = source->ptr;
    size_t rest = stream->request->length - stream->sent, count = rest < length ? rest : length;
    memcpy(buffer, stream->request->body + stream->sent, count);
    stream->sent += count;
    if (count == rest) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)count;
}

static void send_stream(struct stream *stream)
{
    struct connection *connection = places[next_place++ % place_count];
    stream->sent = 0;
    stream->status = 0;
    nghttp2_data_provider body = {.source.ptr = stream, .read_callback = give_body};
    const struct request *request = stream->request;
    if (nghttp2_submit_request(connection->http, NULL, request->fields, request->count, request->length ? &body : NULL, stream) < 0)
        die("a request cannot be submitted");
}

static void send_next(double due)
{
    struct stream *stream = must(calloc(1, sizeof *stream));
    stream->request = &requests[next_request++ % request_count];
    stream->due = due;
    in_flight++;
    send_stream(stream);
}

static int on_field(nghttp2_session *http, const nghttp2_frame *frame, const uint8_t *name, size_t name_length,
                    const uint8_t *value, size_t length, uint8_t flags, void *user)
{
    (void)flags, (void)user, (void)length;
    struct stream *stream = nghttp2_session_get_stream_user_data(http, frame->hd.stream_id);
    if (stream && name_length == 7 && !memcmp(name, ":status", 7)) stream->status = atoi((const char *)value);
    return 0;
}

static void leave(struct connection *connection)
{
    if (connection->is_leaving) return;
    connection->is_leaving = true;
    if (is_over) return;
    for (size_t place = 0; place < place_count; place++)
        if (places[place] == connection) places[place] = open_connection();
    reconnects++;
}

static int on_frame(nghttp2_session *http, const nghttp2_frame *frame, void *user)
{
    (void)http;
    if (frame->hd.type == NGHTTP2_GOAWAY) leave(user);
    return 0;
}

static int on_close(nghttp2_session *http, int32_t id, uint32_t code, void *user)
{
    (void)user;
    struct stream *stream = nghttp2_session_get_stream_user_data(http, id);
    if (!stream) return 0;
    if (code == NGHTTP2_REFUSED_STREAM) {
        again = must(realloc(again, (again_count + 1) * sizeof *again));
        again[again_count++] = stream;
        repeated++;
        return 0;
    }
    if (code || stream->status != expected) {
        if (!wrong++) fprintf(stderr, "paced: an answer is %d, error %u\n", stream->status, code);
    }
    if (answered == capacity) latencies = must(realloc(latencies, (capacity = capacity ? 2 * capacity : 65536) * sizeof *latencies));
    latencies[answered++] = (uint32_t)((now() - stream->due) * 1e6);
    in_flight--;
    free(stream);
    return 0;
}

static ssize_t write_tls(nghttp2_session *http, const uint8_t *bytes, size_t length, int flags, void *user)
{
    (void)http, (void)flags;
    struct connection *connection = user;
    int written = SSL_write(connection->ssl, bytes, (int)length);
    if (written > 0) return written;
    int error = SSL_get_error(connection->ssl, written);
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? NGHTTP2_ERR_WOULDBLOCK : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static struct connection *open_connection(void)
{
    struct connection *connection = must(calloc(1, sizeof *connection));
    connection->ssl = connected(session);
    SSL_set_connect_state(connection->ssl);
    SSL_set_mode(connection->ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    int descriptor = SSL_get_fd(connection->ssl);
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
    nghttp2_session_callbacks *callbacks;
    if (nghttp2_session_callbacks_new(&callbacks)) die("out of memory");
    nghttp2_session_callbacks_set_send_callback(callbacks, write_tls);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_field);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    if (nghttp2_session_client_new(&connection->http, callbacks, connection)) die("out of memory");
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(connection->http, NGHTTP2_FLAG_NONE, NULL, 0);
    connection->events = EPOLLIN | EPOLLOUT;
    epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &(struct epoll_event){connection->events, {connection}});
    return connection;
}

static void close_connection(struct connection *connection)
{
    leave(connection);
    /* Requests that were sent and are not answered fail, as they would for a phone. */
    int descriptor = SSL_get_fd(connection->ssl);
    nghttp2_session_del(connection->http);
    SSL_set_quiet_shutdown(connection->ssl, 1);
    SSL_shutdown(connection->ssl);
    SSL_free(connection->ssl);
    close(descriptor);
    free(connection);
}

/* Reads and writes what can be; returns false if the connection has ended. */
static bool turn(struct connection *connection)
{
    ERR_clear_error();
    if (!connection->is_ready) {
        int done = SSL_do_handshake(connection->ssl);
        if (done != 1) {
            int error = SSL_get_error(connection->ssl, done);
            if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) die("no handshake");
        }
        connection->is_ready = done == 1;
    }
    if (connection->is_ready) {
        uint8_t buffer[65536];
        int count;
        while ((count = SSL_read(connection->ssl, buffer, sizeof buffer)) > 0)
            if (nghttp2_session_mem_recv(connection->http, buffer, (size_t)count) < 0) die("no HTTP/2");
        int error = SSL_get_error(connection->ssl, count);
        if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return false;
        if (nghttp2_session_send(connection->http)) return false;
        if (!nghttp2_session_want_read(connection->http) && !nghttp2_session_want_write(connection->http)) return false;
    }
    bool waits = connection->is_ready ? nghttp2_session_want_write(connection->http) : SSL_want_write(connection->ssl);
    uint32_t events = EPOLLIN | (waits ? EPOLLOUT : 0);
    if (events != connection->events) {
        connection->events = events;
        epoll_ctl(poller, EPOLL_CTL_MOD, SSL_get_fd(connection->ssl), &(struct epoll_event){events, {connection}});
    }
    return true;
}

static bool are_ready(void)
{
    for (size_t place = 0; place < place_count; place++)
        if (!places[place]->is_ready) return false;
    return true;
}

static void wait_and_turn(double until)
{
    struct epoll_event events[64];
    double rest = until - now();
    struct timespec time = {rest > 0 ? (time_t)rest : 0, rest > 0 ? (long)((rest - (double)(time_t)rest) * 1e9) : 0};
    int count = epoll_pwait2(poller, events, 64, &time, NULL);
    for (int index = 0; index < count; index++) {
        struct connection *connection = events[index].data.ptr;
        if (!turn(connection)) close_connection(connection);
    }
}

static void flush(void)
{
    while (again_count) send_stream(again[--again_count]);
    for (size_t place = 0; place < place_count; place++)
        if (places[place]->is_ready && nghttp2_session_want_write(places[place]->http)) turn(places[place]);
}

static void load(double seconds, const char *path)
{
    poller = epoll_create1(EPOLL_CLOEXEC);
    SSL_CTX_sess_set_new_cb(tls, keep_session);
    places = must(calloc(place_count, sizeof *places));
    for (size_t place = 0; place < place_count; place++) places[place] = open_connection();
    double start = now();
    while (!are_ready()) {
        if (now() > start + PATIENCE) die("no connection");
        wait_and_turn(start + PATIENCE);
    }
    start = now();
    size_t sent = 0, total = (size_t)(rate * seconds);
    while (rate > 0 ? sent < total : now() < start + seconds) {
        if (rate > 0)
            for (; sent < total && start + (double)sent / rate <= now(); sent++) send_next(start + (double)sent / rate);
        else
            while (in_flight < AT_ONCE) send_next(now());
        flush();
        wait_and_turn(rate > 0 ? start + (double)sent / rate : start + seconds);
    }
    double duration = now() - start;
    size_t in_time = answered;
    for (double end = now() + PATIENCE; in_flight && now() < end;) {
        flush();
        wait_and_turn(end);
    }
    is_over = true;
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(latencies, sizeof *latencies, answered, file) != answered || fclose(file)) die("%s: %s", path, strerror(errno));
    printf("{\"rate\":%.1f,\"requests\":%zu,\"wrong\":%zu,\"unanswered\":%zu,\"reconnects\":%zu,\"repeated\":%zu}\n",
           (double)in_time / duration, answered, wrong, in_flight, reconnects, repeated);
}

/* --- Handshakes ------------------------------------------------------------------------------------------------------- */

static bool resumes;
static double shake_end;

/* The newest session of a connection. In TLS 1.3, sessions come after the handshake. */
static int give_session(SSL *ssl, SSL_SESSION *given)
{
    SSL_SESSION_free(SSL_get_ex_data(ssl, 0));
    SSL_set_ex_data(ssl, 0, given);
    return 1;
}

static void *shake(void *argument)
{
    size_t *counts = argument;
    SSL_SESSION *mine = NULL;
    while (now() < shake_end) {
        SSL *ssl = connected(resumes ? mine : NULL);
        if (SSL_connect(ssl) != 1) die("no handshake");
        counts[SSL_session_reused(ssl) ? 1 : 0]++;
        /* nginx sends its settings at once, after the sessions. */
        char byte;
        if (SSL_read(ssl, &byte, 1) != 1) die("the server sends nothing");
        /* A server without tickets takes a session once, so each connection uses one of the connection before it. */
        SSL_SESSION_free(mine);
        if (!(mine = SSL_get_ex_data(ssl, 0))) die("the server gives no session");
        int descriptor = SSL_get_fd(ssl);
        SSL_set_quiet_shutdown(ssl, 1);
        SSL_shutdown(ssl);
        SSL_free(ssl);
        /* Otherwise the port could not be used again for a minute. */
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0}, sizeof(struct linger));
        close(descriptor);
    }
    SSL_SESSION_free(mine);
    return NULL;
}

static void shake_all(size_t threads, double seconds)
{
    SSL_CTX_sess_set_new_cb(tls, give_session);
    pthread_t ids[threads];
    size_t counts[threads][2], full = 0, resumed = 0;
    memset(counts, 0, sizeof counts);
    double start = now();
    shake_end = start + seconds;
    for (size_t thread = 0; thread < threads; thread++)
        if (pthread_create(&ids[thread], NULL, shake, counts[thread])) die("pthread_create");
    for (size_t thread = 0; thread < threads; thread++) {
        pthread_join(ids[thread], NULL);
        full += counts[thread][0];
        resumed += counts[thread][1];
    }
    printf("{\"full\":%zu,\"resumed\":%zu,\"duration\":%.6f}\n", full, resumed, now() - start);
}

int main(int count, char **arguments)
{
    if (count < 4) die("see the source for the usage");
    port = atoi(arguments[2]);
    prepare_tls(arguments[3]);
    if (count == 10 && !strcmp(arguments[1], "load")) {
        read_requests(arguments[4]);
        place_count = strtoul(arguments[5], NULL, 10);
        rate = atof(arguments[6]);
        expected = atoi(arguments[8]);
        load(atof(arguments[7]), arguments[9]);
    } else if (count == 7 && !strcmp(arguments[1], "shake")) {
        resumes = !strcmp(arguments[4], "resumed");
        shake_all(strtoul(arguments[5], NULL, 10), atof(arguments[6]));
    } else
        die("see the source for the usage");
}
