/* Records the statements of a program and the answers of its MariaDB server, so that the floor can send the same.

   Loaded with LD_PRELOAD before libmariadb, into a server with one worker thread. $MERGANSER_RECORD names the file. It has
   one event a line; text is in hexadecimal:

     THREAD query SQL
     THREAD execute SQL ROWS PARAMETER…      ROWS 0: not in bulk. A PARAMETER is n, i:NUMBER, d:NUMBER, t:TIME, s:TEXT or
                                             b:BYTES; a bulk execution has them row by row
     THREAD done AFFECTED INSERT_ID          after a statement without rows
     THREAD rows COUNT COLUMNS VALUE…        row by row, a VALUE is n or s:TEXT

   The values are those of the run, including secrets of a throwaway instance. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <mysql.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct known {
    MYSQL_STMT *statement;
    char *sql;
    MYSQL_BIND *binds;
    unsigned int rows;
};

static struct known all[4096];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static FILE *out(void)
{
    static FILE *file;
    if (!file) {
        const char *path = getenv("MERGANSER_RECORD");
        file = fopen(path ? path : "/dev/null", "a");
        if (!file) abort();
    }
    fprintf(file, "%d", (int)gettid());
    return file;
}

static void *next(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) abort();
    return function;
}

static struct known *of(MYSQL_STMT *statement)
{
    struct known *free_one = NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].statement == statement) return &all[i];
        if (!all[i].statement && !free_one) free_one = &all[i];
    }
    if (!free_one) abort();
    *free_one = (struct known){.statement = statement};
    return free_one;
}

static void hex(FILE *file, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) fprintf(file, "%02x", ((const unsigned char *)bytes)[i]);
}

static void parameter(FILE *file, const MYSQL_BIND *bind, unsigned int row, int bulk)
{
    if (bind->buffer_type == MYSQL_TYPE_NULL || (bulk && bind->u.indicator && bind->u.indicator[row] == STMT_INDICATOR_NULL)) {
        fputs(" n", file);
        return;
    }
    const void *cell = bind->buffer;
    switch (bind->buffer_type) {
    case MYSQL_TYPE_LONGLONG: {
        long long value = ((const long long *)cell)[bulk ? row : 0];
        fprintf(file, " i:%lld", value);
        break;
    }
    case MYSQL_TYPE_DOUBLE: fprintf(file, " d:%.17g", ((const double *)cell)[bulk ? row : 0]); break;
    case MYSQL_TYPE_DATETIME: {
        const MYSQL_TIME *time = bulk ? ((MYSQL_TIME *const *)cell)[row] : cell;
        fprintf(file, " t:%04u-%02u-%02uT%02u:%02u:%02u.%06lu", time->year, time->month, time->day, time->hour,
                time->minute, time->second, time->second_part);
        break;
    }
    default:
        fputs(bind->buffer_type == MYSQL_TYPE_BLOB ? " b:" : " s:", file);
        hex(file, bulk ? ((void *const *)cell)[row] : cell, bind->length[bulk ? row : 0]);
    }
}

int mysql_real_query(MYSQL *mysql, const char *sql, unsigned long length)
{
    static int (*real)(MYSQL *, const char *, unsigned long);
    if (!real) real = next("mysql_real_query");
    pthread_mutex_lock(&lock);
    FILE *file = out();
    fputs(" query ", file);
    hex(file, sql, length);
    fputc('\n', file);
    fflush(file);
    pthread_mutex_unlock(&lock);
    return real(mysql, sql, length);
}

int mysql_stmt_prepare(MYSQL_STMT *statement, const char *sql, unsigned long length)
{
    static int (*real)(MYSQL_STMT *, const char *, unsigned long);
    if (!real) real = next("mysql_stmt_prepare");
    pthread_mutex_lock(&lock);
    struct known *known = of(statement);
    free(known->sql);
    known->sql = strndup(sql, length);
    pthread_mutex_unlock(&lock);
    return real(statement, sql, length);
}

my_bool mysql_stmt_close(MYSQL_STMT *statement)
{
    static my_bool (*real)(MYSQL_STMT *);
    if (!real) real = next("mysql_stmt_close");
    pthread_mutex_lock(&lock);
    struct known *known = of(statement);
    free(known->sql);
    *known = (struct known){0};
    pthread_mutex_unlock(&lock);
    return real(statement);
}

my_bool mysql_stmt_attr_set(MYSQL_STMT *statement, enum enum_stmt_attr_type type, const void *value)
{
    static my_bool (*real)(MYSQL_STMT *, enum enum_stmt_attr_type, const void *);
    if (!real) real = next("mysql_stmt_attr_set");
    if (type == STMT_ATTR_ARRAY_SIZE) {
        pthread_mutex_lock(&lock);
        of(statement)->rows = *(const unsigned int *)value;
        pthread_mutex_unlock(&lock);
    }
    return real(statement, type, value);
}

my_bool mysql_stmt_bind_param(MYSQL_STMT *statement, MYSQL_BIND *binds)
{
    static my_bool (*real)(MYSQL_STMT *, MYSQL_BIND *);
    if (!real) real = next("mysql_stmt_bind_param");
    pthread_mutex_lock(&lock);
    of(statement)->binds = binds;
    pthread_mutex_unlock(&lock);
    return real(statement, binds);
}

int mysql_stmt_execute(MYSQL_STMT *statement)
{
    static int (*real)(MYSQL_STMT *);
    if (!real) real = next("mysql_stmt_execute");
    pthread_mutex_lock(&lock);
    struct known *known = of(statement);
    unsigned int rows = known->rows;
    FILE *file = out();
    fputs(" execute ", file);
    hex(file, known->sql, strlen(known->sql));
    fprintf(file, " %u", rows);
    for (unsigned int row = 0; row < (rows ? rows : 1); row++)
        for (unsigned long column = 0; column < mysql_stmt_param_count(statement); column++)
            parameter(file, &known->binds[column], row, rows > 0);
    fputc('\n', file);
    fflush(file);
    pthread_mutex_unlock(&lock);
    int result = real(statement);
    if (result == 0 && mysql_stmt_field_count(statement) == 0) {
        pthread_mutex_lock(&lock);
        fprintf(out(), " done %lld %lld\n", (long long)mysql_stmt_affected_rows(statement),
                (long long)mysql_stmt_insert_id(statement));
        fflush(NULL);
        pthread_mutex_unlock(&lock);
    }
    return result;
}

int mysql_stmt_store_result(MYSQL_STMT *statement)
{
    static int (*real)(MYSQL_STMT *);
    if (!real) real = next("mysql_stmt_store_result");
    int result = real(statement);
    if (result) return result;
    pthread_mutex_lock(&lock);
    FILE *file = out();
    unsigned int columns = mysql_stmt_field_count(statement);
    fprintf(file, " rows %llu %u", (unsigned long long)mysql_stmt_num_rows(statement), columns);
    for (int fetched; (fetched = mysql_stmt_fetch(statement)) == 0 || fetched == MYSQL_DATA_TRUNCATED;) {
        for (unsigned int column = 0; column < columns; column++) {
            static char text[1 << 20];
            unsigned long length = 0;
            my_bool is_null = 0, error = 0;
            MYSQL_BIND bind = {.buffer_type = MYSQL_TYPE_STRING, .buffer = text, .buffer_length = sizeof text,
                               .length = &length, .is_null = &is_null, .error = &error};
            if (mysql_stmt_fetch_column(statement, &bind, column, 0)) abort();
            if (is_null) {
                fputs(" n", file);
            } else {
                fputs(" s:", file);
                hex(file, text, length);
            }
        }
    }
    fputc('\n', file);
    fflush(file);
    mysql_stmt_data_seek(statement, 0);
    pthread_mutex_unlock(&lock);
    return 0;
}
