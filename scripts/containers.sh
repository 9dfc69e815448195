# shellcheck shell=bash disable=SC2154
# Bare Debian 12 with systemd as PID 1, in containers of systemd-nspawn, and the story that the scripts tell there. Source it
# after lib.sh, as root.

packages=$root/.build-release/package
# The machines' folders, and the programs that hold them, by name.
declare -A folders=() nspawns=()
keep=

# containers_or_package: ends the script where no container can be made: the package is built, and not tried.
containers_or_package() {
    [[ $(id -u) == 0 ]] || die "only root can make a container."
    if ! unshare --mount --pid --net --fork true 2>/dev/null; then
        say "This machine gives no namespaces, so there can be no container: the package is built, and not tried."
        exec "$root/scripts/package"
    fi
    "$root/scripts/packages" debootstrap systemd-container
    # Namespaces are not enough where mounts or control groups are forbidden.
    mkdir -p "$run/logs"
    if ! systemd-nspawn --quiet --directory=/ --volatile=yes --register=no --keep-unit --private-network true \
        >"$run/logs/machine.log" 2>&1; then
        say "This machine can run no container (.run/logs/machine.log): the package is built, and not tried."
        exec "$root/scripts/package"
    fi
}

# The packages that apt will want, because the machines have no way to a mirror.
wanted=(mariadb-server nginx libcurl4 libfcgi0ldbl libmariadb3 haproxy openssh-server)
base=$packages/bookworm-$(cksum <<<"${wanted[*]}" | cut -d' ' -f1).tar
make_base() {
    [[ ! -s $base ]] || return 0
    say "Making a bare Debian 12 …"
    local folder=$packages/bookworm
    rm -rf "$folder" "$packages"/bookworm*.tar
    debootstrap --variant=minbase \
        --include=apt-utils,ca-certificates,curl,dbus,debconf,jq,openssl,procps,systemd,systemd-sysv \
        bookworm "$folder" >"$folder.log" 2>&1 || die "debootstrap failed, see $folder.log"
    { chroot "$folder" apt-get update -q && chroot "$folder" apt-get install -q -y --download-only "${wanted[@]}"; } \
        >>"$folder.log" 2>&1 || die "apt failed, see $folder.log"
    tar -C "$folder" -cf "$base.new" .
    mv "$base.new" "$base"
    rm -rf "$folder"
}

# make_machine NAME FILE…: the folder of a machine that has the files in /srv/trial.
make_machine() {
    local name=$1
    shift
    folders[$name]=$(mktemp -d "$run/machine-XXXXXX")
    tar -C "${folders[$name]}" -xf "$base"
    mkdir "${folders[$name]}/srv/trial"
    cp "$@" "${folders[$name]}/srv/trial/"
}

# control_groups NAME: the folders of the machine's control groups. Its systemd takes the group in which nspawn starts for all
# there is: two machines in one would end each other's services.
control_groups() {
    local number controllers path unified=/sys/fs/cgroup
    [[ ! -d $unified/unified ]] || unified+=/unified
    while IFS=: read -r number controllers path; do
        case $number:$controllers in
        0:) printf '%s\n' "$unified${path%/}/merganser-${folders[$1]##*-}" ;;
        *:name=systemd) printf '%s\n' "/sys/fs/cgroup/systemd${path%/}/merganser-${folders[$1]##*-}" ;;
        esac
    done </proc/self/cgroup
}

# start_machine NAME NETWORK: boots it. NETWORK: nspawn's option for its network.
start_machine() {
    launch_machine "$@"
    await_machine "$1"
}

# launch_machine NAME NETWORK, await_machine NAME: the same in two steps, so that machines boot together.
launch_machine() {
    local name=$1 network=$2 groups group
    mapfile -t groups < <(control_groups "$name")
    mkdir -p "${groups[@]}"
    {
        for group in "${groups[@]}"; do echo "$BASHPID" >"$group/cgroup.procs"; done
        exec systemd-nspawn --quiet --directory="${folders[$name]}" --machine="$name" --register=no --keep-unit "$network" \
            --boot
    } </dev/null >>"$run/logs/$name.log" 2>&1 &
    nspawns[$name]=$!
}
await_machine() {
    until_true 120 on "$1" systemctl is-active --quiet multi-user.target || die "$1 does not start; see $run/logs/$1.log"
}

# end_machine NAME SIGNAL: shuts it down with TERM; takes its power with KILL.
end_machine() {
    local leader group
    leader=$(pgrep -P "${nspawns[$1]}" | head -n 1)
    [[ $2 != KILL || -z $leader ]] || kill -s KILL "$leader"
    kill -s "$2" "${nspawns[$1]}" 2>/dev/null || true
    { wait "${nspawns[$1]}" || true; } 2>/dev/null # bash tells who was killed
    control_groups "$1" | while IFS= read -r group; do
        [[ ! -d $group ]] || until_true 10 find "$group" -depth -type d -exec rmdir {} + || true
    done
    unset "nspawns[$1]"
}

remove_machine() {
    end_machine "$1" TERM
    rm -rf "${folders[$1]}"
    unset "folders[$1]"
}

# Ends everything, whatever has ended before.
# shellcheck disable=SC2329  # called by the trap
cleanup() {
    trap '' INT TERM
    local name
    for name in "${!nspawns[@]}"; do end_machine "$name" KILL 2>/dev/null || true; done
    [[ -n $keep ]] || for name in "${!folders[@]}"; do rm -rf "${folders[$name]}"; done
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# on NAME COMMAND…: runs it in the machine, as root with the environment of a login.
on() {
    local leader
    leader=$(pgrep -P "${nspawns[$1]}" | head -n 1)
    shift
    nsenter --target "$leader" --mount --uts --ipc --net --pid --wd --root \
        env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/srv/trial LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "$@"
}

# inside COMMAND…: on the machine that $here names.
here=
inside() { on "$here" "$@"; }

# --- Checks

# The file with what a command on this machine has printed last.
last() { printf '%s\n' "$run/logs/$here.last"; }

step=0
tell() {
    step=$((step + 1))
    printf '\n%d. %s\n' "$step" "$*"
}

# expect WHAT COMMAND…: fails unless the command in the machine succeeds.
expect() {
    local what=$1
    shift
    inside "$@" >"$(last)" 2>&1 || {
        tail -n 30 "$(last)" >&2
        die "$what"
    }
}
refute() {
    local what=$1
    shift
    ! inside "$@" >"$(last)" 2>&1 || die "$what"
}

# --- The story: a phone becomes its owner's, who has signed in with Apple before.

url=https://id.example.com

# What stands in for Apple: a key, its set on another site of the same nginx, and tokens. The authority of all certificates
# is trusted in the machine, and in those that copy_stand_in is called for.
make_stand_in() {
    inside bash -se <<'KEYS'
mkdir -p /srv/trial/ca /srv/keys
cd /srv/trial/ca
key() { openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"; }
key ca
openssl req -x509 -new -key ca.key -days 30 -subj /CN=Trial -out ca.pem
for name in id keys db; do
    key "$name"
    openssl req -new -key "$name.key" -subj "/CN=$name.example.com" |
        openssl x509 -req -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -out "$name.pem" \
            -extfile <(echo "subjectAltName=DNS:$name.example.com") 2>/dev/null
done
openssl genrsa -out apple.key 2048 2>/dev/null
modulus=$(openssl rsa -in apple.key -noout -modulus | cut -d= -f2 | sed 's/../\\x&/g')
modulus=$(printf %b "$modulus" | openssl base64 -A | tr +/ -_ | tr -d =)
printf '{"keys":[{"kty":"RSA","kid":"trial","use":"sig","alg":"RS256","n":"%s","e":"AQAB"}]}' "$modulus" >/srv/keys/keys.json
echo hello >/srv/keys/hello.txt
KEYS
    trust_stand_in
}
trust_stand_in() {
    inside bash -se <<'TRUST'
cp /srv/trial/ca/ca.pem /usr/local/share/ca-certificates/trial.crt
update-ca-certificates >/dev/null 2>&1
echo 127.0.0.1 id.example.com keys.example.com >>/etc/hosts
TRUST
}
copy_stand_in() { # FROM
    on "$1" tar -C / -c srv/trial/ca srv/keys | inside tar -C / -x
    trust_stand_in
}
# The site comes after that of Merganser by its name, and is the default server only because it is the first one.
serve_stand_in() {
    inside tee /etc/nginx/sites-enabled/trial >/dev/null <<'SITE'
server {
    listen 443 ssl http2;
    server_name keys.example.com;
    ssl_certificate /srv/trial/ca/keys.pem;
    ssl_certificate_key /srv/trial/ca/keys.key;
    root /srv/keys;
}
SITE
    expect "nginx does not take the other site" systemctl reload-or-restart nginx
    # nginx reads it after that.
    until_true 20 inside curl -sf -o /dev/null https://keys.example.com/hello.txt || die "the other site does not answer."
}

# token NONCE PERSON: an identity token, as Apple signs it.
token() {
    inside bash -s "$1" "$2" <<'TOKEN'
encode() { openssl base64 -A | tr +/ -_ | tr -d =; }
now=$(date +%s)
nonce=$(printf %s "$1" | openssl dgst -sha256 -r | cut -d' ' -f1)
claims='"iss":"https://appleid.apple.com","aud":"com.example.app"'
claims+=',"sub":"'$2'","email":"'$2'@example.com","email_verified":true'
text=$(printf '{"alg":"RS256","kid":"trial"}' | encode)
text+=.$(printf '{%s,"iat":%d,"exp":%d,"nonce":"%s"}' "$claims" "$now" "$((now + 600))" "$nonce" | encode)
printf %s.%s "$text" "$(printf %s "$text" | openssl dgst -sha256 -sign /srv/trial/ca/apple.key | encode)"
TOKEN
}

# request TOKEN PATH BODY: prints the answer's body, then its status on a line of its own.
request() {
    inside curl -s --http2 -w '\n%{http_code}\n' ${1:+-H "Authorization: Bearer $1"} "$url$2" ${3:+-d "$3"}
}
uuid() { cat /proc/sys/kernel/random/uuid; }
device() { request '' /api/v1/devices "{\"device_uuid\":\"$(uuid)\",\"platform\":\"ios\"}" | head -n 1; }
connect() { # TOKEN PERSON
    request "$1" /api/v1/me/connected_identities \
        "{\"provider\":\"apple\",\"identity_token\":\"$(token n-0S6 "$2")\",\"raw_nonce\":\"n-0S6\"}"
}

# Each time of somebody else's.
people=0
swap() {
    local known guest answer ticket person=mina$((++people))
    known=$(device | jq -r .access_token)
    answer=$(connect "$known" "$person")
    [[ $(tail -n 1 <<<"$answer") == 20[01] ]] || die "the identity was not connected: $answer"
    guest=$(device | jq -r .access_token)
    answer=$(connect "$guest" "$person")
    [[ $(tail -n 1 <<<"$answer") == 409 ]] || die "expected 409 for an identity that has an account: $answer"
    ticket=$(head -n 1 <<<"$answer" | jq -r .swap_ticket)
    answer=$(request "$guest" /api/v1/me/anonymous_swap "{\"swap_ticket\":\"$ticket\",\"provider\":\"apple\"}")
    [[ $(tail -n 1 <<<"$answer") == 200 ]] || die "the swap failed: $answer"
    say "   $(head -n 1 <<<"$answer" | jq -c '{user: .user.id, merged}')"
}
