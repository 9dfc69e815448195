#pragma once

#include <fcgiapp.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>

/* Declared under _GNU_SOURCE only, which a module map cannot define. */
extern int accept4(int, struct sockaddr *, socklen_t *, int);

/* Adoption sets two fields that the header marks "don't use"; they have stood where they stand since 2.2.3. */
_Static_assert(offsetof(FCGX_Request, ipcFd) == 48, "FCGX_Request.ipcFd moved: check adoption against this libfcgi");
_Static_assert(offsetof(FCGX_Request, keepConnection) == 56, "FCGX_Request.keepConnection moved");
_Static_assert(sizeof(FCGX_Request) == 80, "FCGX_Request has another size: check adoption against this libfcgi");

/* Reads the next request from a connection that was accepted elsewhere: 0, or the connection is closed.

   keepConnection: FCGX_Accept_r first finishes the request before, of which there is none, and would close for it.
   FCGX_Detach: else libfcgi's close waits for the peer to close too, as long as that sends something every 2 s. */
static inline int merganser_fcgx_adopt(FCGX_Request *request, int connection)
{
    FCGX_InitRequest(request, -1, 0);
    request->ipcFd = connection;
    request->keepConnection = 1;
    FCGX_Detach(request);
    return FCGX_Accept_r(request);
}

/* Whether the peer asked for the connection to be kept (FCGI_KEEP_CONN). */
static inline int merganser_fcgx_is_to_be_kept(const FCGX_Request *request) { return request->keepConnection; }
