-- Sends the requests of a file through wrk, and prints the result as one JSON object.
-- Usage: wrk … -s requests.lua URL -- FILE (loop | once | refresh) THREADS
-- The file has requests as bytes of the wire, each preceded by its length in eight digits. Threads share them out.
-- once: ends when all are sent. refresh: each thread has one connection and one request. After each answer, it
-- replaces the request's refresh token by the answer's.

local ffi = require("ffi")
ffi.cdef [[
    typedef struct { long seconds; long microseconds; } merganser_time;
    int gettimeofday(merganser_time *time, void *zone);
]]

local function now()
    local time = ffi.new("merganser_time")
    ffi.C.gettimeofday(time, nil)
    return tonumber(time.seconds) + tonumber(time.microseconds) / 1e6
end

local threads, began = {}, 0

function setup(thread)
    began = now()
    thread:set("number", #threads)
    table.insert(threads, thread)
end

local function read(path)
    local file, all = assert(io.open(path, "rb")), {}
    while true do
        local length = file:read(8)
        if not length then break end
        all[#all + 1] = file:read(tonumber(length))
    end
    file:close()
    return all
end

function init(arguments)
    mode = arguments[2]
    requests = read(arguments[1])
    step, at = tonumber(arguments[3]), number + 1
    failed, last = 0, 0
    if mode == "refresh" then
        template = requests[at]
        -- Set only here, because wrk keeps and parses every answer if there is a callback.
        response = take_token
    end
end

local filler = "GET /static HTTP/1.1\r\nHost: localhost\r\n\r\n"

function request()
    if mode == "refresh" then return template end
    local text = requests[at]
    at = at + step
    if not text then
        if mode == "once" then
            if last == 0 then last = now() end
            wrk.thread:stop()
            return filler
        end
        at = number + 1 + step
        text = requests[number + 1]
    end
    return text
end

function take_token(status, headers, body)
    local fresh = body:match('"refresh_token": ?"([^"]+)"')
    if status ~= 200 or not fresh then
        failed = failed + 1
        return
    end
    local old = template:match("refresh_token=([^&]+)"):gsub("%-", "%%-")
    template = template:gsub(old, (fresh:gsub("%%", "%%%%")))
end

function done(summary, latency)
    local duration, failed = summary.duration / 1e6, 0
    local last = 0
    for _, thread in ipairs(threads) do
        failed = failed + (thread:get("failed") or 0)
        last = math.max(last, thread:get("last") or 0)
    end
    -- wrk waits for the end of its time even if nothing is left to send.
    if last > 0 then duration = last - began end
    local errors = summary.errors
    io.write(string.format(
        '{"requests":%d,"duration":%.6f,"p50":%.0f,"p99":%.0f,"p999":%.0f,"statuses":%d,"connects":%d,'
            .. '"reads":%d,"writes":%d,"timeouts":%d,"failed":%d}\n',
        summary.requests, duration, latency:percentile(50), latency:percentile(99), latency:percentile(99.9),
        errors.status, errors.connect, errors.read, errors.write, errors.timeout, failed))
end
