# shellcheck shell=bash
# Functions that the demonstrations share: they send requests, print them and check the answers.

# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# The instance of the caller, or else that of make run.
if [[ -z ${MERGANSER_URL-} ]]; then
    [[ -f $run/env ]] || die "there is no instance; start one with make run."
    # shellcheck source=/dev/null
    . "$run/env"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

random() { openssl rand -hex "$1"; }

uuid() { cat /proc/sys/kernel/random/uuid; }

# Secrets and tokens are shortened, because people paste this output into chats and tickets. Long texts that are always the
# same are shortened, too.
shorten() {
    sed -E 's/\b(lpk_live_|ds_|swt_|ltgt_|logi_agt_|eyJ|owl_client_|owl_import_|owl_agent_)([A-Za-z0-9_-]{4})[A-Za-z0-9_.-]+/\1\2…/g
        s/\b((code|code_verifier|refresh_token)("\s*:\s*"|=)[A-Za-z0-9_-]{4})[A-Za-z0-9_-]{39}/\1…/g
        s/"scopes":\[[^]]{60,}\]/"scopes":[…]/g'
}

step=0
tell() {
    step=$((step + 1))
    printf '\n%d. %s\n' "$step" "$*"
}

# request METHOD PATH TOKEN BODY [HEADER…]: sends a request and prints both sides. Status, headers and body are kept for
# expect. The body is JSON or a form. If $show is a jq filter, only its output is printed of the answer.
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
    # Secrets go through files and pipes, because every user can read a command line.
    status=$(printf %s "$body" | curl -s -X "$method" -H @"$work/headers" "${options[@]}" -D "$work/answer-headers" \
        -o "$work/answer" -w '%{http_code}' "$MERGANSER_URL$path") || die "no answer from $MERGANSER_URL$path"
    [[ $status == 200 ]] || local show=.
    printf '   < %s %s\n' "$status" "$(jq -c "${show-.}" "$work/answer" | shorten)"
}

# expect STATUS [JQ CONDITION]: checks the last answer.
expect() {
    [[ $status == "$1" ]] || die "expected $1, got $status."
    [[ -z ${2-} ]] || jq -e "$2" "$work/answer" >/dev/null || die "the answer does not satisfy: $2"
}

answer() { jq -r "$1" "$work/answer"; }

# A code verifier and its challenge (RFC 7636).
verifier() { openssl rand 32 | base64url; }
challenge() { printf %s "$1" | openssl dgst -sha256 -binary | base64url; }
base64url() { openssl base64 -A | tr +/ -_ | tr -d =; }

# claims TOKEN: the payload of a JWT. The signature need not be checked, because the token comes from the server itself.
claims() {
    local payload=${1#*.}
    payload=${payload%.*}
    # Padded to a multiple of four, as base64 requires.
    printf %s "$payload===" | head -c $((((${#payload} + 3) / 4) * 4)) | tr -- -_ +/ | openssl base64 -d -A
}
