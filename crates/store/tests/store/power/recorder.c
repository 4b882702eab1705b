/* Loaded into the process under test (LD_PRELOAD): writes down what it does to the files of POWER_FOLDER, in the order in which it
 * happens, to the file POWER_LOG. One operation at a time, so that the order is the real one.
 *
 * An entry: kind (1 byte), inode (8), offset or size (8), bytes of the name (4), bytes of the data (4), name, data; numbers in the
 * order of the machine. Kinds as in the enumeration below. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CREATE = 1, WRITE, RESIZE, SYNC, RENAME, UNLINK, MAKE_FOLDER, REMOVE_FOLDER, SYNC_FOLDER, ENTRY, MARK, UNKNOWN };

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1;
static char folder[4096], marker[4096];

__attribute__((constructor)) static void begin(void) {
    const char *log = getenv("POWER_LOG"), *of = getenv("POWER_FOLDER"), *marks = getenv("POWER_MARKER");
    if (!log || !of || !marks) return;
    snprintf(folder, sizeof folder, "%s/", of);
    snprintf(marker, sizeof marker, "%s", marks);
    log_fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log_fd < 0) abort();
}

static void all(const void *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = syscall(SYS_write, log_fd, bytes, count);
        if (written <= 0) abort();
        bytes = (const char *)bytes + written;
        count -= (size_t)written;
    }
}

static void put(uint8_t kind, uint64_t inode, uint64_t offset, const char *name, const void *data, size_t bytes) {
    uint32_t name_bytes = (uint32_t)strlen(name), data_bytes = (uint32_t)bytes;
    char head[25];
    head[0] = (char)kind;
    memcpy(head + 1, &inode, 8);
    memcpy(head + 9, &offset, 8);
    memcpy(head + 17, &name_bytes, 4);
    memcpy(head + 21, &data_bytes, 4);
    all(head, sizeof head);
    all(name, name_bytes);
    all(data, bytes);
}

static int is_inside(const char *path) {
    size_t length = strlen(folder);
    return log_fd >= 0 && (strncmp(path, folder, length) == 0 || (strncmp(path, folder, length - 1) == 0 && strlen(path) == length - 1));
}

/* Path and inode of an open file that belongs to the folder. */
static int known(int fd, char *path, size_t room, struct stat *found) {
    path[0] = 0;
    if (log_fd < 0) return 0;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, room - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return is_inside(path) && fstat(fd, found) == 0;
}

static void unknown(const char *call) {
    put(UNKNOWN, 0, 0, call, "", 0);
}

#define REAL(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))
#define LOCK pthread_mutex_lock(&one_at_a_time)
#define UNLOCK do { int kept = errno; pthread_mutex_unlock(&one_at_a_time); errno = kept; } while (0)

static int opened(int fd, const char *path, int flags, int existed) {
    struct stat found;
    if (fd >= 0 && fstat(fd, &found) == 0 && S_ISREG(found.st_mode)) {
        if (!existed) put(CREATE, found.st_ino, 0, path, "", 0);
        else if (flags & O_TRUNC) put(RESIZE, found.st_ino, 0, "", "", 0);
    }
    return fd;
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        va_list more; \
        va_start(more, flags); \
        mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0; \
        va_end(more); \
        if (!is_inside(path)) return REAL(name)(path, flags, mode); \
        LOCK; \
        int existed = access(path, F_OK) == 0; \
        int fd = opened(REAL(name)(path, flags, mode), path, flags, existed); \
        UNLOCK; \
        return fd; \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
    int name(int at, const char *path, int flags, ...) { \
        va_list more; \
        va_start(more, flags); \
        mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0; \
        va_end(more); \
        LOCK; \
        if (log_fd >= 0 && (flags & O_CREAT) && (path[0] != '/' || is_inside(path))) unknown(#name); \
        int fd = REAL(name)(at, path, flags, mode); \
        UNLOCK; \
        return fd; \
    }
OPENAT(openat)
OPENAT(openat64)

ssize_t write(int fd, const void *bytes, size_t count) {
    char path[4096];
    struct stat found;
    if (log_fd < 0) return REAL(write)(fd, bytes, count);
    LOCK;
    ssize_t written = REAL(write)(fd, bytes, count);
    if (written > 0) {
        if (known(fd, path, sizeof path, &found)) {
            off_t end = lseek(fd, 0, SEEK_CUR);
            put(WRITE, found.st_ino, (uint64_t)(end - written), "", bytes, (size_t)written);
        } else if (strcmp(path, marker) == 0) {
            put(MARK, 0, 0, "", bytes, (size_t)written);
        }
    }
    UNLOCK;
    return written;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    char path[4096];
    struct stat found;
    if (!known(fd, path, sizeof path, &found)) return REAL(writev)(fd, parts, count);
    /* Fewer bytes than asked for are a right answer. */
    for (int place = 0; place < count; place++)
        if (parts[place].iov_len > 0) return write(fd, parts[place].iov_base, parts[place].iov_len);
    return 0;
}

#define PWRITE(name) \
    ssize_t name(int fd, const void *bytes, size_t count, off_t offset) { \
        char path[4096]; \
        struct stat found; \
        if (!known(fd, path, sizeof path, &found)) return REAL(name)(fd, bytes, count, offset); \
        LOCK; \
        ssize_t written = REAL(name)(fd, bytes, count, offset); \
        if (written > 0) put(WRITE, found.st_ino, (uint64_t)offset, "", bytes, (size_t)written); \
        UNLOCK; \
        return written; \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

#define RESIZED(name) \
    int name(int fd, off_t size) { \
        char path[4096]; \
        struct stat found; \
        if (!known(fd, path, sizeof path, &found)) return REAL(name)(fd, size); \
        LOCK; \
        int outcome = REAL(name)(fd, size); \
        if (outcome == 0) put(RESIZE, found.st_ino, (uint64_t)size, "", "", 0); \
        UNLOCK; \
        return outcome; \
    }
RESIZED(ftruncate)
RESIZED(ftruncate64)

/* A folder is written with what is in it: it may hold names that came by calls that are not seen here. */
static void synced(int fd, const char *path, const struct stat *found) {
    (void)fd;
    if (!S_ISDIR(found->st_mode)) {
        put(SYNC, found->st_ino, 0, "", "", 0);
        return;
    }
    DIR *open = opendir(path);
    struct dirent *entry;
    while (open && (entry = readdir(open)))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            put(ENTRY, entry->d_ino, entry->d_type == DT_DIR, entry->d_name, "", 0);
    if (open) closedir(open);
    put(SYNC_FOLDER, found->st_ino, 0, path, "", 0);
}

#define SYNCED(name) \
    int name(int fd) { \
        char path[4096]; \
        struct stat found; \
        if (!known(fd, path, sizeof path, &found)) return REAL(name)(fd); \
        LOCK; \
        /* Not carried out: what is lost is decided afterwards, and the disk is not waited for. */ \
        synced(fd, path, &found); \
        UNLOCK; \
        return 0; \
    }
SYNCED(fsync)
SYNCED(fdatasync)

int rename(const char *from, const char *to) {
    if (!is_inside(to)) return REAL(rename)(from, to);
    LOCK;
    int outcome = REAL(rename)(from, to);
    if (outcome == 0) put(RENAME, 0, 0, from, to, strlen(to));
    UNLOCK;
    return outcome;
}

int unlink(const char *path) {
    if (!is_inside(path)) return REAL(unlink)(path);
    LOCK;
    int outcome = REAL(unlink)(path);
    if (outcome == 0) put(UNLINK, 0, 0, path, "", 0);
    UNLOCK;
    return outcome;
}

int unlinkat(int at, const char *name, int flags) {
    char path[4096], whole[8192];
    struct stat found;
    if (name[0] == '/' || !known(at, path, sizeof path, &found)) return REAL(unlinkat)(at, name, flags);
    LOCK;
    int outcome = REAL(unlinkat)(at, name, flags);
    snprintf(whole, sizeof whole, "%s/%s", path, name);
    if (outcome == 0) put(flags & AT_REMOVEDIR ? REMOVE_FOLDER : UNLINK, 0, 0, whole, "", 0);
    UNLOCK;
    return outcome;
}

int mkdir(const char *path, mode_t mode) {
    if (!is_inside(path)) return REAL(mkdir)(path, mode);
    LOCK;
    int outcome = REAL(mkdir)(path, mode);
    if (outcome == 0) put(MAKE_FOLDER, 0, 0, path, "", 0);
    UNLOCK;
    return outcome;
}

int rmdir(const char *path) {
    if (!is_inside(path)) return REAL(rmdir)(path);
    LOCK;
    int outcome = REAL(rmdir)(path);
    if (outcome == 0) put(REMOVE_FOLDER, 0, 0, path, "", 0);
    UNLOCK;
    return outcome;
}

/* Not followed: a test that meets one says so. */
#define REFUSED(type, name, parameters, arguments, fd) \
    type name parameters { \
        char path[4096]; \
        struct stat found; \
        if (known(fd, path, sizeof path, &found)) { LOCK; unknown(#name); UNLOCK; } \
        return REAL(name) arguments; \
    }
REFUSED(ssize_t, copy_file_range, (int in, off64_t *i, int out, off64_t *o, size_t n, unsigned f), (in, i, out, o, n, f), out)
REFUSED(int, fallocate, (int fd, int mode, off_t offset, off_t count), (fd, mode, offset, count), fd)
REFUSED(int, posix_fallocate, (int fd, off_t offset, off_t count), (fd, offset, count), fd)
