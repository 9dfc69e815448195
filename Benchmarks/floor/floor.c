/* The floor: the least cost that this architecture can have.

   A FastCGI responder with Merganser's accept loop: one epoll instance on which every thread waits, and kept connections.
   For each request it sends the statements that were recorded when Merganser answered the same request. It uses
   libmariadb, with one connection a thread and statements prepared once. It parses no JSON, checks nothing, knows no users
   and logs nothing. A request's X-Floor header has what the floor needs: the name of the plan, then the values that differ
   from request to request.

   Usage: floor SOCKET PLANS THREADS, with the database in $FLOOR_DATABASE_SOCKET, _NAME, _USER and _PASSWORD_FILE. plans.py
   writes the plans, and says what their lines mean. With X-Floor-Time, the answer says how many nanoseconds each
   statement took. With X-Floor-Check, it has the number of rows that each
   statement touched, so that it can be compared with the recording. Plans of ideal.py are not recorded. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcgiapp.h>
#include <fcntl.h>
#include <mysql.h>
#include <mysqld_error.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MAX_FIELDS = 64, MAX_TOKENS = 16, MAX_UUIDS = 1024, MAX_CHANCES = 64, MAX_STATEMENTS = 128, MAX_PLANS = 64, COLUMN = 2048, CHANCE = 65536 };

__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("floor: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    exit(1);
}

static void *must(void *pointer)
{
    if (!pointer) die("out of memory");
    return pointer;
}

/* --- Plans ------------------------------------------------------------------------------------------------------------ */

struct part {
    char kind;      /* c constant, f field, b field in hexadecimal digits, h SHA-256 of a field, r value of an earlier row,
                       w word of such a value, between commas, n the number behind one,
                       i id of an earlier insert, a the answer's token, A its SHA-256, x random bytes,
                       X random hexadecimal digits, u and v UUID of version 4 and 7 as so many bytes, t time */
    int a, b, c, d;
    char *bytes;
    size_t length;
};

struct parameter {
    char type;      /* n NULL, i integer, d double, s text, b bytes, t time */
    int parts;
    struct part *part;
    MYSQL_TIME time;
    long long integer;
    double real;
};

struct statement {
    char *sql;
    int is_prepared, rows, columns, keep;   /* keep: rows whose values later statements use */
    struct parameter *parameter;
};

struct token {
    size_t offset, length;
};

struct plan {
    char *name, *head, *body;
    size_t head_length, body_length;
    int statements, tokens, signatures, answers_row;   /* the first value of the first row */
    struct statement statement[MAX_STATEMENTS];
    struct token token[MAX_TOKENS];
};

static struct plan plans[MAX_PLANS];
static int plan_count;
static char *session;

static char *unhex(const char *text, size_t *length)
{
    size_t count = strlen(text) / 2;
    char *bytes = must(malloc(count + 1));
    for (size_t i = 0; i < count; i++) {
        unsigned int byte;
        if (sscanf(text + 2 * i, "%2x", &byte) != 1) die("a plan holds \"%s\" where hexadecimal digits belong", text);
        bytes[i] = (char)byte;
    }
    bytes[count] = 0;
    if (length) *length = count;
    return bytes;
}

static void parse_time(const char *text, MYSQL_TIME *time)
{
    char fraction[7] = "";
    if (sscanf(text, "%4u-%2u-%2u%*c%2u:%2u:%2u.%6[0-9]", &time->year, &time->month, &time->day, &time->hour, &time->minute,
               &time->second, fraction) < 6) die("a plan holds the time \"%s\"", text);
    for (size_t count = strlen(fraction); count < 6; count++) fraction[count] = '0';
    time->second_part = strtoul(fraction, NULL, 10);
    time->time_type = MYSQL_TIMESTAMP_DATETIME;
}

static void parse_parameter(char *line, struct parameter *parameter)
{
    char *rest, *word = strtok_r(line, " ", &rest);
    parameter->type = *word;
    parameter->part = must(calloc(strlen(rest) / 2 + 1, sizeof *parameter->part));
    while ((word = strtok_r(NULL, " ", &rest))) {
        struct part *part = &parameter->part[parameter->parts++];
        part->kind = *word++;
        if (part->kind == 'c') part->bytes = unhex(word, &part->length);
        else sscanf(word, "%d.%d.%d.%d", &part->a, &part->b, &part->c, &part->d);
    }
    if (parameter->parts == 1 && parameter->part->kind == 'c') {
        const char *text = parameter->part->bytes;
        if (parameter->type == 'i') parameter->integer = strtoll(text, NULL, 10);
        if (parameter->type == 'd') parameter->real = strtod(text, NULL);
        if (parameter->type == 't') parse_time(text, &parameter->time);
    }
}

static void read_plans(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) die("%s: %s", path, strerror(errno));
    char *line = NULL;
    size_t size = 0;
    struct plan *plan = NULL;
    struct parameter *parameter = NULL;
    for (ssize_t length; (length = getline(&line, &size, file)) > 0;) {
        if (line[length - 1] == '\n') line[length - 1] = 0;
        if (*line == ' ') {
            parse_parameter(line, parameter++);
            continue;
        }
        char *rest, *word = strtok_r(line, " ", &rest);
        if (!word) continue;
        char *first = strtok_r(NULL, " ", &rest);
        if (!strcmp(word, "session")) {
            session = unhex(first, NULL);
        } else if (!strcmp(word, "plan")) {
            if (plan_count == MAX_PLANS) die("more than %d plans", MAX_PLANS);
            plan = &plans[plan_count++];
            plan->name = must(strdup(first));
        } else if (!strcmp(word, "query") || !strcmp(word, "execute")) {
            if (plan->statements == MAX_STATEMENTS) die("%s has more than %d statements", plan->name, MAX_STATEMENTS);
            struct statement *statement = &plan->statement[plan->statements++];
            statement->sql = unhex(first, NULL);
            if (*word == 'e') {
                statement->is_prepared = 1;
                sscanf(rest, "%d %d %d", &statement->rows, &statement->columns, &statement->keep);
                size_t count = (size_t)statement->columns * (size_t)(statement->rows ? statement->rows : 1);
                statement->parameter = parameter = must(calloc(count + 1, sizeof *parameter));
            }
        } else if (!strcmp(word, "row")) {
            plan->answers_row = 1;
        } else if (!strcmp(word, "sign")) {
            plan->signatures = atoi(first);
        } else if (!strcmp(word, "token")) {
            struct token *token = &plan->token[plan->tokens++];
            sscanf(first, "%zu.%zu", &token->offset, &token->length);
        } else if (!strcmp(word, "head")) {
            plan->head = unhex(first, &plan->head_length);
        } else if (!strcmp(word, "body")) {
            plan->body = unhex(first ? first : "", &plan->body_length);
        } else {
            die("%s: a line begins with \"%s\"", path, word);
        }
    }
    free(line);
    fclose(file);
}

/* --- One thread ------------------------------------------------------------------------------------------------------- */

struct value {
    size_t length;
    char bytes[COLUMN];
};

/* The result of a statement, for later statements on the same connection. */
struct result {
    MYSQL_STMT *handle;
    MYSQL_BIND *binds;              /* of parameters */
    MYSQL_BIND *columns;
    struct value *cells;            /* of the row that is being read */
    unsigned long *lengths;
    my_bool *nulls;
    unsigned int column_count;
    struct value *kept;             /* keep × column_count */
    long long insert_id, touched;
};

struct cell {
    long long integer;
    double real;
    MYSQL_TIME time;
    unsigned long length;
    void *pointer;
    char indicator;
};

struct chance {
    uint64_t request;               /* in which it was drawn */
    char bytes[CHANCE];
};

struct thread {
    MYSQL *database;
    struct chance chances[MAX_CHANCES];
    struct result *results[MAX_PLANS];
    char *arena;
    size_t used, size;
    char *fields[MAX_FIELDS];
    int field_count;
    char tokens[MAX_TOKENS][128];
    unsigned char uuids[MAX_UUIDS][16];
    uint64_t uuid_request[MAX_UUIDS];   /* in which request it was drawn */
    uint64_t request;
    struct timespec clock;
    uint64_t random[2];
    int is_timed;
    long long nanoseconds[MAX_STATEMENTS];
};

static EVP_PKEY *key;

/* xorshift128+: the numbers need only be unique. */
static uint64_t draw(struct thread *thread)
{
    uint64_t a = thread->random[0], b = thread->random[1];
    thread->random[0] = b;
    a ^= a << 23;
    thread->random[1] = a ^ b ^ (a >> 17) ^ (b >> 26);
    return thread->random[1] + b;
}

static void draw_hex(struct thread *thread, char *text, size_t count)
{
    for (size_t i = 0; i < count; i++) text[i] = "0123456789abcdef"[draw(thread) >> 60];
}

static void sha256(const void *bytes, size_t length, unsigned char *digest)
{
    if (!EVP_Digest(bytes, length, digest, NULL, EVP_sha256(), NULL)) die("SHA-256 fails");
}

static void put(struct thread *thread, const void *bytes, size_t length)
{
    if (thread->used + length > thread->size) die("a request needs more than %zu bytes of arguments", thread->size);
    memcpy(thread->arena + thread->used, bytes, length);
    thread->used += length;
}

/* Seconds and milliseconds from now. */
static MYSQL_TIME time_at(struct thread *thread, int offset)
{
    struct tm civil;
    long milliseconds = thread->clock.tv_nsec / 1000000 + offset % 1000;
    time_t seconds = thread->clock.tv_sec + offset / 1000 + (milliseconds < 0 ? -1 : milliseconds / 1000);
    milliseconds = (milliseconds + 1000) % 1000;
    gmtime_r(&seconds, &civil);
    return (MYSQL_TIME){.year = (unsigned)civil.tm_year + 1900, .month = (unsigned)civil.tm_mon + 1,
                        .day = (unsigned)civil.tm_mday, .hour = (unsigned)civil.tm_hour, .minute = (unsigned)civil.tm_min,
                        .second = (unsigned)civil.tm_sec, .second_part = (unsigned long)milliseconds * 1000,
                        .time_type = MYSQL_TIMESTAMP_DATETIME};
}

/* The request's UUID with this number: of version 4, or of version 7, which begins with the time. */
static const unsigned char *uuid(struct thread *thread, int number, int version)
{
    unsigned char *bytes = thread->uuids[number];
    if (thread->uuid_request[number] != thread->request) {
        thread->uuid_request[number] = thread->request;
        uint64_t halves[2] = {draw(thread), draw(thread)};
        memcpy(bytes, halves, sizeof halves);
        uint64_t time = (uint64_t)thread->clock.tv_sec * 1000 + (uint64_t)thread->clock.tv_nsec / 1000000;
        for (int i = 0; i < 6 && version == 7; i++) bytes[i] = (unsigned char)(time >> (40 - 8 * i));
        bytes[6] = (unsigned char)(version << 4 | (bytes[6] & 0x0f));
        bytes[8] = (unsigned char)(0x80 | (bytes[8] & 0x3f));
    }
    return bytes;
}

/* As 16 bytes, as 32 digits, or as 36 characters with hyphens. */
static void put_uuid(struct thread *thread, const struct part *part, int version)
{
    const unsigned char *bytes = uuid(thread, part->a, version);
    if (part->b == 16) {
        put(thread, bytes, 16);
        return;
    }
    for (int i = 0; i < 16; i++) {
        if (part->b == 36 && (i == 4 || i == 6 || i == 8 || i == 10)) put(thread, "-", 1);
        const char *digits = "0123456789abcdef";
        put(thread, (char[]){digits[bytes[i] >> 4], digits[bytes[i] & 15]}, 2);
    }
}

/* Random bytes. The same number gives the same bytes throughout a request. */
static void put_random(struct thread *thread, const struct part *part)
{
    struct chance *chance = &thread->chances[part->b];
    size_t length = (size_t)part->a;
    if (length > sizeof chance->bytes || part->b >= MAX_CHANCES) die("a plan wants more chance than there is");
    if (chance->request != thread->request) {
        chance->request = thread->request;
        if (part->kind == 'X') draw_hex(thread, chance->bytes, length);
        else for (size_t i = 0; i < length; i++) chance->bytes[i] = (char)(draw(thread) >> 56);
    }
    put(thread, chance->bytes, length);
}

static const struct value *earlier(const struct result *results, const struct part *part)
{
    const struct result *result = &results[part->a];
    return &result->kept[(unsigned)part->c * result->column_count + (unsigned)part->b];
}

static void append(struct thread *thread, struct result *results, const struct part *part)
{
    unsigned char digest[32];
    char text[64];
    switch (part->kind) {
    case 'c': put(thread, part->bytes, part->length); break;
    case 'f': put(thread, thread->fields[part->a], strlen(thread->fields[part->a])); break;
    case 'b':
        for (const char *digits = thread->fields[part->a]; digits[0] && digits[1]; digits += 2) {
            unsigned int byte = 0;
            sscanf(digits, "%2x", &byte);
            put(thread, &(unsigned char){(unsigned char)byte}, 1);
        }
        break;
    case 'h':
        sha256(thread->fields[part->a], strlen(thread->fields[part->a]), digest);
        put(thread, digest, sizeof digest);
        break;
    case 'r': {
        const struct value *value = earlier(results, part);
        put(thread, value->bytes, value->length);
        break;
    }
    case 'w': {
        const struct value *value = earlier(results, part);
        const char *word = value->bytes, *end = word + value->length, *comma;
        for (int left = part->d; (comma = memchr(word, ',', (size_t)(end - word))) && left > 0; left--) word = comma + 1;
        put(thread, word, (size_t)((comma ? comma : end) - word));
        break;
    }
    case 'n': {
        const struct value *value = earlier(results, part);
        char number[24];
        snprintf(number, sizeof number, "%.*s", (int)value->length, (const char *)value->bytes);
        put(thread, text, (size_t)snprintf(text, sizeof text, "%lld", atoll(number) + 1));
        break;
    }
    case 'i': put(thread, text, (size_t)snprintf(text, sizeof text, "%lld", results[part->a].insert_id)); break;
    case 'a': put(thread, thread->tokens[part->a], strlen(thread->tokens[part->a])); break;
    case 'A':
        sha256(thread->tokens[part->a], strlen(thread->tokens[part->a]), digest);
        put(thread, digest, sizeof digest);
        break;
    case 'x':
    case 'X': put_random(thread, part); break;
    case 'u': put_uuid(thread, part, 4); break;
    case 'v': put_uuid(thread, part, 7); break;
    default: die("a plan has a part of kind %c", part->kind);
    }
}

static void fill(struct thread *thread, struct result *results, const struct parameter *parameter, struct cell *cell)
{
    int is_constant = parameter->parts == 1 && parameter->part->kind == 'c';
    size_t start = thread->used;
    cell->indicator = parameter->type == 'n' ? STMT_INDICATOR_NULL : STMT_INDICATOR_NONE;
    switch (parameter->type) {
    case 'n': return;
    case 't':
        cell->time = is_constant ? parameter->time
            : parameter->part->kind == 't' ? time_at(thread, parameter->part->a) : (MYSQL_TIME){0};
        if (cell->time.year == 0) {
            append(thread, results, parameter->part);
            put(thread, "", 1);
            parse_time(thread->arena + start, &cell->time);
        }
        cell->pointer = &cell->time;
        return;
    case 'd': cell->real = parameter->real; return;
    case 'i':
        if (is_constant) {
            cell->integer = parameter->integer;
            return;
        }
        append(thread, results, parameter->part);
        put(thread, "", 1);
        cell->integer = strtoll(thread->arena + start, NULL, 10);
        return;
    default:
        for (int i = 0; i < parameter->parts; i++) append(thread, results, &parameter->part[i]);
        cell->pointer = thread->arena + start;
        cell->length = thread->used - start;
    }
}

static enum enum_field_types buffer_type(char type)
{
    return type == 'n' ? MYSQL_TYPE_NULL : type == 'i' ? MYSQL_TYPE_LONGLONG : type == 'd' ? MYSQL_TYPE_DOUBLE
        : type == 't' ? MYSQL_TYPE_DATETIME : type == 'b' ? MYSQL_TYPE_BLOB : MYSQL_TYPE_STRING;
}

static void bind_one(const struct statement *statement, struct cell *cells, MYSQL_BIND *binds)
{
    for (int i = 0; i < statement->columns; i++) {
        struct cell *cell = &cells[i];
        char type = statement->parameter[i].type;
        binds[i] = (MYSQL_BIND){.buffer_type = buffer_type(type)};
        binds[i].buffer = type == 'i' ? (void *)&cell->integer : type == 'd' ? (void *)&cell->real : cell->pointer;
        if (type == 's' || type == 'b') binds[i].length = &cell->length;
    }
}

/* Arrays for COM_STMT_BULK_EXECUTE. Each column has one type: that of its first value that is not NULL. */
static void bind_many(struct thread *thread, const struct statement *statement, struct cell *cells, MYSQL_BIND *binds)
{
    size_t rows = (size_t)statement->rows, columns = (size_t)statement->columns;
    for (size_t column = 0; column < columns; column++) {
        char type = 'n';
        for (size_t row = 0; row < rows && type == 'n'; row++) type = statement->parameter[row * columns + column].type;
        thread->used = (thread->used + 15) & ~(size_t)15;
        if (thread->used + rows * 24 + 16 > thread->size) die("a bulk statement needs more memory");
        void **pointers = (void **)(thread->arena + thread->used);
        unsigned long *lengths = (unsigned long *)(pointers + rows);
        char *indicators = (char *)(lengths + rows);
        thread->used += rows * 17;
        for (size_t row = 0; row < rows; row++) {
            struct cell *cell = &cells[row * columns + column];
            if (type == 'i') memcpy(&pointers[row], &cell->integer, 8);
            else if (type == 'd') memcpy(&pointers[row], &cell->real, 8);
            else pointers[row] = cell->pointer;
            lengths[row] = cell->length;
            indicators[row] = cell->indicator;
        }
        binds[column] = (MYSQL_BIND){.buffer_type = buffer_type(type), .buffer = pointers, .length = lengths};
        binds[column].u.indicator = indicators;
    }
}

static int prepare(struct thread *thread, const struct statement *statement, struct result *result)
{
    result->handle = mysql_stmt_init(thread->database);
    if (!result->handle || mysql_stmt_prepare(result->handle, statement->sql, strlen(statement->sql))) return -1;
    if (mysql_stmt_param_count(result->handle) != (unsigned long)statement->columns) die("a plan's parameters do not fit");
    result->binds = must(calloc((size_t)statement->columns + 1, sizeof *result->binds));
    return 0;
}

/* Called after the first execution, because the columns of INSERT … RETURNING are unknown before. */
static void make_room(const struct statement *statement, struct result *result)
{
    unsigned int count = result->column_count = mysql_stmt_field_count(result->handle);
    result->columns = must(calloc(count + 1, sizeof *result->columns));
    result->cells = must(calloc(count + 1, sizeof *result->cells));
    result->lengths = must(calloc(count + 1, sizeof *result->lengths));
    result->nulls = must(calloc(count + 1, sizeof *result->nulls));
    result->kept = must(calloc((size_t)statement->keep * count + 1, sizeof *result->kept));
    for (unsigned int i = 0; i < count; i++)
        result->columns[i] = (MYSQL_BIND){.buffer_type = MYSQL_TYPE_STRING, .buffer = result->cells[i].bytes,
                                          .buffer_length = COLUMN, .length = &result->lengths[i],
                                          .is_null = &result->nulls[i]};
}

static int run_statement(struct thread *thread, const struct statement *statement, struct result *results, int index)
{
    struct result *result = &results[index];
    if (!statement->is_prepared) return mysql_real_query(thread->database, statement->sql, strlen(statement->sql)) ? -1 : 0;
    if (!result->handle && prepare(thread, statement, result)) return -1;
    int rows = statement->rows ? statement->rows : 1, count = rows * statement->columns;
    struct cell *cells = alloca(sizeof *cells * ((size_t)count + 1));
    for (int i = 0; i < count; i++) fill(thread, results, &statement->parameter[i], &cells[i]);
    if (statement->rows) {
        unsigned int size = (unsigned int)statement->rows;
        mysql_stmt_attr_set(result->handle, STMT_ATTR_ARRAY_SIZE, &size);
        bind_many(thread, statement, cells, result->binds);
    } else {
        bind_one(statement, cells, result->binds);
    }
    if (count > 0 && mysql_stmt_bind_param(result->handle, result->binds)) return -1;
    if (mysql_stmt_execute(result->handle)) return -1;
    if (mysql_stmt_field_count(result->handle) == 0) {
        result->insert_id = (long long)mysql_stmt_insert_id(result->handle);
        result->touched = (long long)mysql_stmt_affected_rows(result->handle);
        return 0;
    }
    if (!result->columns) make_room(statement, result);
    if (mysql_stmt_bind_result(result->handle, result->columns)) return -1;
    result->touched = 0;
    for (int fetched; (fetched = mysql_stmt_fetch(result->handle)) != MYSQL_NO_DATA; result->touched++) {
        if (fetched != 0 && fetched != MYSQL_DATA_TRUNCATED) return -1;
        if (result->touched >= statement->keep) continue;
        for (unsigned int i = 0; i < result->column_count; i++) {
            struct value *value = &result->kept[(unsigned)result->touched * result->column_count + i];
            value->length = result->nulls[i] ? 0 : result->lengths[i] < COLUMN ? result->lengths[i] : COLUMN;
            memcpy(value->bytes, result->cells[i].bytes, value->length);
        }
    }
    /* The rows of a block are followed by its end. */
    while (mysql_stmt_more_results(result->handle))
        if (mysql_stmt_next_result(result->handle) > 0) return -1;
    return 0;
}

static void sign(int count)
{
    for (int i = 0; i < count; i++) {
        static const unsigned char text[1024];
        unsigned char signature[512];
        size_t length = sizeof signature;
        EVP_MD_CTX *context = must(EVP_MD_CTX_new());
        if (EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) != 1 ||
            EVP_DigestSign(context, signature, &length, text, sizeof text) != 1) die("signing fails");
        EVP_MD_CTX_free(context);
    }
}

static void connect_database(struct thread *thread)
{
    char password[256] = "";
    FILE *file = fopen(getenv("FLOOR_DATABASE_PASSWORD_FILE"), "r");
    if (!file || !fgets(password, sizeof password, file)) die("no database password");
    fclose(file);
    password[strcspn(password, "\n")] = 0;
    thread->database = must(mysql_init(NULL));
    mysql_options(thread->database, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (!mysql_real_connect(thread->database, NULL, getenv("FLOOR_DATABASE_USER"), password, getenv("FLOOR_DATABASE_NAME"), 0,
                            getenv("FLOOR_DATABASE_SOCKET"), 0)) die("database: %s", mysql_error(thread->database));
    if (session && mysql_real_query(thread->database, session, strlen(session)))
        die("session: %s", mysql_error(thread->database));
}

static void begin(struct thread *thread, const struct plan *plan)
{
    thread->used = 0;
    thread->request++;
    clock_gettime(CLOCK_REALTIME, &thread->clock);
    for (int i = 0; i < plan->tokens; i++) {
        draw_hex(thread, thread->tokens[i], plan->token[i].length);
        thread->tokens[i][plan->token[i].length] = 0;
    }
}

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* The error, or 0. */
static unsigned int run_plan(struct thread *thread, const struct plan *plan, const char **message)
{
    struct result **results = &thread->results[plan - plans];
    if (!thread->database) connect_database(thread);
    if (!*results) *results = must(calloc(MAX_STATEMENTS, sizeof **results));
    for (int attempt = 0;; attempt++) {
        int failed = 0, i;
        begin(thread, plan);
        for (i = 0; i < plan->statements && !failed; i++) {
            long long start = thread->is_timed ? now() : 0;
            failed = run_statement(thread, &plan->statement[i], *results, i);
            if (thread->is_timed) thread->nanoseconds[i] = now() - start;
        }
        if (!failed) return 0;
        MYSQL_STMT *handle = (*results)[i - 1].handle;
        unsigned int code = handle ? mysql_stmt_errno(handle) : mysql_errno(thread->database);
        *message = handle ? mysql_stmt_error(handle) : mysql_error(thread->database);
        mysql_rollback(thread->database);
        if ((code != ER_LOCK_DEADLOCK && code != ER_LOCK_WAIT_TIMEOUT) || attempt == 100) return code;
        /* With jitter, as in Merganser: otherwise two transactions that collided would collide again. */
        usleep((useconds_t)(draw(thread) % (2000u << (attempt < 5 ? attempt : 5))));
    }
}

static void answer(struct thread *thread, FCGX_Request *request)
{
    const char *header = FCGX_GetParam("HTTP_X_FLOOR", request->envp);
    char line[65536], *rest = NULL, body[1 << 16];
    if (!header) {
        static const char hello[] = "Status: 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nhello\n";
        FCGX_PutStr(hello, sizeof hello - 1, request->out);
        return;
    }
    snprintf(line, sizeof line, "%s", header);
    char *name = strtok_r(line, ",", &rest);
    thread->field_count = 0;
    for (char *field; thread->field_count < MAX_FIELDS && (field = strtok_r(NULL, ",", &rest));)
        thread->fields[thread->field_count++] = field;
    const struct plan *plan = NULL;
    for (int i = 0; i < plan_count; i++)
        if (!strcmp(plans[i].name, name)) plan = &plans[i];
    thread->is_timed = FCGX_GetParam("HTTP_X_FLOOR_TIME", request->envp) != NULL;
    const char *message = "no such plan";
    unsigned int error = plan ? run_plan(thread, plan, &message) : 1;
    if (error) {
        FCGX_FPrintF(request->out, "Status: 500 Internal Server Error\r\nContent-Type: text/plain\r\n\r\n%u %s\n", error, message);
        return;
    }
    sign(plan->signatures);
    if (FCGX_GetParam("HTTP_X_FLOOR_CHECK", request->envp)) {
        FCGX_FPrintF(request->out, "Status: 200 OK\r\nContent-Type: text/plain\r\n\r\n");
        for (int i = 0; i < plan->statements; i++)
            FCGX_FPrintF(request->out, "%d\n", (int)thread->results[plan - plans][i].touched);
        return;
    }
    FCGX_PutStr(plan->head, (int)plan->head_length, request->out);
    if (thread->is_timed) {
        FCGX_FPrintF(request->out, "X-Floor-Times:");
        for (int i = 0; i < plan->statements; i++) FCGX_FPrintF(request->out, " %lld", thread->nanoseconds[i]);
        FCGX_FPrintF(request->out, "\r\n");
    }
    if (plan->answers_row) {
        const struct value *value = thread->results[plan - plans]->kept;
        FCGX_FPrintF(request->out, "Content-Length: %d\r\n\r\n", (int)value->length);
        FCGX_PutStr(value->bytes, (int)value->length, request->out);
        return;
    }
    FCGX_FPrintF(request->out, "Content-Length: %d\r\n\r\n", (int)plan->body_length);
    if (plan->tokens == 0) {
        FCGX_PutStr(plan->body, (int)plan->body_length, request->out);
        return;
    }
    if (plan->body_length > sizeof body) die("the answer of %s is too long", plan->name);
    memcpy(body, plan->body, plan->body_length);
    for (int i = 0; i < plan->tokens; i++) memcpy(body + plan->token[i].offset, thread->tokens[i], plan->token[i].length);
    FCGX_PutStr(body, (int)plan->body_length, request->out);
}

/* --- The accept loop ---------------------------------------------------------------------------------------------------- */

static int listener, epoll;

static void watch(int operation, int descriptor)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT, .data.fd = descriptor};
    if (epoll_ctl(epoll, operation, descriptor, &event)) die("epoll_ctl: %s", strerror(errno));
}

static void serve(struct thread *thread, int connection, int is_new)
{
    FCGX_Request request;
    char rest[65536];
    FCGX_InitRequest(&request, -1, 0);
    request.ipcFd = connection;
    request.keepConnection = 1;
    FCGX_Detach(&request);
    if (FCGX_Accept_r(&request) < 0) return;
    while (FCGX_GetStr(rest, sizeof rest, request.in) == (int)sizeof rest) {}
    answer(thread, &request);
    FCGX_FClose(request.err);
    FCGX_FClose(request.out);
    int is_kept = request.keepConnection;
    FCGX_Free(&request, 0);
    if (is_kept) watch(is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, connection);
    else close(connection);
}

static void *work(void *unused)
{
    (void)unused;
    struct thread *thread = must(calloc(1, sizeof *thread));
    thread->size = 4 << 20;
    thread->arena = must(malloc(thread->size));
    if (RAND_bytes((unsigned char *)thread->random, sizeof thread->random) != 1) die("no randomness");
    for (;;) {
        struct epoll_event event;
        if (epoll_wait(epoll, &event, 1, -1) != 1) continue;
        char byte;
        if (event.data.fd == listener) {
            int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
            if (connection < 0) continue;
            if (recv(connection, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1) serve(thread, connection, 1);
            else watch(EPOLL_CTL_ADD, connection);
        } else if ((event.events & EPOLLRDHUP) && recv(event.data.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 1) {
            close(event.data.fd);
        } else {
            serve(thread, event.data.fd, 0);
        }
    }
    return NULL;
}

int main(int count, char **arguments)
{
    if (count != 4) die("usage: floor SOCKET PLANS THREADS");
    signal(SIGPIPE, SIG_IGN);
    read_plans(arguments[2]);
    if (mysql_library_init(0, NULL, NULL) || FCGX_Init()) die("a library cannot be initialized");
    /* FCGX_Init has set a handler. */
    signal(SIGTERM, SIG_DFL);
    key = must(EVP_RSA_gen(2048));
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", arguments[1]);
    unlink(address.sun_path);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1024))
        die("%s: %s", arguments[1], strerror(errno));
    epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN | EPOLLEXCLUSIVE, .data.fd = listener};
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event)) die("epoll: %s", strerror(errno));
    pthread_t thread;
    for (int i = 0; i < atoi(arguments[3]); i++)
        if (pthread_create(&thread, NULL, work, NULL)) die("no thread");
    pthread_join(thread, NULL);
}
