# shellcheck shell=bash
# What the stories share: how requests are made, shown and judged.

# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# Of the instance that the caller means, or else of make run's.
if [[ -z ${MERGANSER_URL-} ]]; then
    [[ -f $run/env ]] || die "no instance; make run starts one."
    # shellcheck source=/dev/null
    . "$run/env"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

random() { openssl rand -hex "$1"; }

uuid() { cat /proc/sys/kernel/random/uuid; }

# Secrets and tokens are cut: a story is pasted into chats and tickets. So is what is long and always the same.
shorten() {
    sed -E 's/\b(lpk_live_|ds_|swt_|eyJ|owl_client_|owl_import_|owl_agent_)([A-Za-z0-9_-]{4})[A-Za-z0-9_.-]+/\1\2…/g
        s/\b((code|code_verifier|refresh_token)("\s*:\s*"|=)[A-Za-z0-9_-]{4})[A-Za-z0-9_-]{39}/\1…/g
        s/"scopes":\[[^]]{60,}\]/"scopes":[…]/g'
}

step=0
tell() {
    step=$((step + 1))
    printf '\n%d. %s\n' "$step" "$*"
}

# request METHOD PATH TOKEN BODY [HEADER…]: prints both sides; status, headers and body stay for expect. A body is JSON or
# a form. Of a long answer only what the jq filter in $show leaves is printed.
request() {
    local method=$1 path=$2 token=$3 body=$4 header options=()
    shift 4
    for header in ${token:+"Authorization: Bearer $token"} "$@"; do
        printf '%s\n' "$header"
    done >"$work/headers"
    case $body in
    '') ;;
    '{'*) options=(-H 'Content-Type: application/json' --data-binary @-) ;;
    *) options=(--data-binary @-) ;;
    esac
    printf '   > %s %s\n' "$method" "$path"
    [[ ! -s $work/headers ]] || sed 's/^/   > /' "$work/headers" | shorten
    [[ -z $body ]] || printf '   > %s\n' "$body" | shorten
    # Secrets go by file and pipe: a command line is everybody's to read.
    status=$(printf %s "$body" | curl -s -X "$method" -H @"$work/headers" "${options[@]}" -D "$work/answer-headers" \
        -o "$work/answer" -w '%{http_code}' "$MERGANSER_URL$path") || die "no answer from $MERGANSER_URL$path"
    [[ $status == 200 ]] || local show=.
    printf '   < %s %s\n' "$status" "$(jq -c "${show-.}" "$work/answer" | shorten)"
}

# expect STATUS [JQ CONDITION]: of the last answer.
expect() {
    [[ $status == "$1" ]] || die "expected $1, got $status."
    [[ -z ${2-} ]] || jq -e "$2" "$work/answer" >/dev/null || die "the answer does not satisfy: $2"
}

answer() { jq -r "$1" "$work/answer"; }

# A code verifier and its challenge (RFC 7636).
verifier() { openssl rand 32 | base64url; }
challenge() { printf %s "$1" | openssl dgst -sha256 -binary | base64url; }
base64url() { openssl base64 -A | tr +/ -_ | tr -d =; }

# claims TOKEN: what a JWT says; its signature is for those who do not get it from the server itself.
claims() {
    local payload=${1#*.}
    payload=${payload%.*}
    # Padded to the multiple of four that base64 wants.
    printf %s "$payload===" | head -c $((((${#payload} + 3) / 4) * 4)) | tr -- -_ +/ | openssl base64 -d -A
}
