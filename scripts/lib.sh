# shellcheck shell=bash
# Functions that the scripts in this folder share: messages, processes with pid files, sockets.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
run=$root/.run
# Debian keeps servers in folders that are not in an ordinary user's PATH.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

# How releases are compiled and linked. lld packs the relocations (glibc 2.36), and leaves out the table of the programs' own symbols,
# which nobody looks up: a start reads less, and 2 MB less are resident. Each function has a section of its own, so that lld leaves out
# those that nothing calls, 0.5 MB, and puts those together that run often. In a profile, a function's name has no path of the machine.
# If an option changes, SwiftPM runs the compiler again; without -disable-incremental-llvm-codegen that would keep each object whose
# code is the same before it is optimized, and so before a profile is looked at.
build_options=(-Xswiftc -use-ld=lld -Xswiftc -Xfrontend -Xswiftc -function-sections -Xlinker -z -Xlinker pack-relative-relocs
    -Xlinker --no-export-dynamic -Xlinker -z -Xlinker keep-text-section-prefix
    -Xswiftc -Xllvm -Xswiftc -static-func-full-module-prefix=false -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen
    -Xlinker --export-dynamic-symbol=_gnutls_global_init_skip)
# Everything in .build-release is also compiled for what scripts/profile has counted. SwiftPM does not read that file, so an option
# changes with it.
profile=$root/Benchmarks/merganserd.profdata
release_options=("${build_options[@]}")
if [[ -f $profile ]]; then
    # shellcheck disable=SC2034
    release_options+=(-Xswiftc -Xfrontend -Xswiftc "-ir-profile-use=$profile"
        -Xswiftc "-DPROFILE_$(cksum <"$profile" | cut -d ' ' -f 1)")
fi
# The order in which programs are linked: what runs lies together, so 6 MB less of them are resident. It may name functions that are
# gone. SwiftPM reads none of these files either.
# shellcheck disable=SC2034
order=$root/Benchmarks/merganserd.order
order_options() {
    [[ -f $order ]] || return 0
    printf -- '-Xlinker\n%s\n' "--symbol-ordering-file=$order" --no-warn-symbol-ordering "-T$root/scripts/release.ld" \
        "--defsym=order_$(cat "$order" "$root/scripts/release.ld" | cksum | cut -d ' ' -f 1)=0"
}

say() { printf '%s\n' "$*"; }
die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# toolchain: the folder of Swift, with its bin and lib.
toolchain() {
    local runtime
    runtime=$(swiftc -print-target-info | jq -er .paths.runtimeResourcePath) ||
        die "swiftc does not say where it is; install a toolchain from swift.org."
    say "${runtime%/lib/swift}"
}

# compiler_library NAME: the path of one of the compiler's runtime libraries, which the toolchains of swift.org have.
compiler_library() {
    local swift library
    swift=$(toolchain) || exit
    library=$(echo "$swift"/lib/clang/*/lib/linux/libclang_rt."$1-$(uname -m)".a)
    [[ -f $library ]] || die "this Swift is not complete: there is no $library. Install a toolchain from swift.org."
    say "$library"
}

# until_true SECONDS COMMAND…: runs the command ten times a second until it succeeds.
until_true() {
    local deadline=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        ((SECONDS < deadline)) || return 1
        sleep 0.1
    done
}

# start_time PID: when the process started, in ticks since boot (proc(5), field 22). Pids are reused, but pid and start
# time together are not.
start_time() {
    local stat
    stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
    # shellcheck disable=SC2086  # the fields after the name, which may have spaces
    set -- ${stat##*) }
    [[ $1 != Z ]] && printf '%s\n' "${20}"
}

# pid_of NAME: the pid of the process that launch started under this name, if it still runs.
pid_of() {
    local pid start
    read -r pid start 2>/dev/null <"$run/pids/$1" || return 1
    [[ $(start_time "$pid") == "$start" ]] && printf '%s\n' "$pid"
}

# launch NAME COMMAND…: starts the command in a session of its own, so that it outlives make and the terminal.
launch() {
    local name=$1
    shift
    # Without descriptor 9, the lock of the calling script.
    setsid "$@" </dev/null >>"$run/logs/$name.log" 2>&1 9>&- &
    printf '%s %s\n' $! "$(start_time $!)" >"$run/pids/$name"
    # No script waits for it.
    disown
}

# end_orphans NAME: ends processes that outlived a process of launch in its session, as nginx's workers outlive a killed
# master. The system does not reuse the id of a session before its last process is gone.
end_orphans() {
    local leader stat
    read -r leader _ 2>/dev/null <"$run/pids/$1" && is_gone "$leader" || return 0
    for stat in /proc/[0-9]*/stat; do
        # shellcheck disable=SC2046,SC2086
        set -- $(sed 's/.*) //' "$stat" 2>/dev/null)
        [[ ${4-} != "$leader" ]] || kill "$(basename "${stat%/stat}")" 2>/dev/null || true
    done
}

is_gone() { ! start_time "$1" >/dev/null; }

# stop NAME SIGNAL SECONDS: ends the process that launch started, and no other; kills it after that many seconds.
stop() {
    local pid
    if pid=$(pid_of "$1"); then
        kill -s "$2" "$pid"
        if ! until_true "$3" is_gone "$pid"; then
            say "$1 did not stop within $3 s; killing it."
            kill -s KILL "$pid"
            until_true 5 is_gone "$pid"
        fi
    fi
    end_orphans "$1"
    rm -f "$run/pids/$1"
}

# socket_folder FOLDER: makes a folder for sockets. Their paths have at most 107 bytes, so a deep checkout keeps them in /tmp.
socket_folder() {
    local folder=$1
    if ((${#folder} > 70)); then
        folder=/tmp/merganser-$(id -u)-$(printf %s "$1" | cksum | cut -d' ' -f1)
    fi
    mkdir -p "$folder"
    [[ -O $folder && ! -L $folder ]] || die "$folder belongs to somebody else; remove it."
    printf '%s\n' "$folder"
}
