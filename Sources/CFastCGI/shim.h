#pragma once

#include <fcgiapp.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

/* Declared under _GNU_SOURCE only, which a module map cannot define. */
extern int accept4(int, struct sockaddr *, socklen_t *, int);

/* Adoption sets two fields that the header marks "don't use"; they have stood where they stand since 2.2.3. */
_Static_assert(offsetof(FCGX_Request, ipcFd) == 48, "FCGX_Request.ipcFd moved: check adoption against this libfcgi");
_Static_assert(offsetof(FCGX_Request, keepConnection) == 56, "FCGX_Request.keepConnection moved");
_Static_assert(sizeof(FCGX_Request) == 80, "FCGX_Request has another size: check adoption against this libfcgi");

/* Reads the next request from a connection that was accepted elsewhere; 0 on success, otherwise the connection is
   closed. keepConnection stops the implicit finish of the request before, which there is none, from closing it. */
static inline int merganser_fcgx_adopt(FCGX_Request *request, int connection)
{
    FCGX_InitRequest(request, -1, 0);
    request->ipcFd = connection;
    request->keepConnection = 1;
    return FCGX_Accept_r(request);
}

/* Ends the request; the connection when it is to be kept, -1 when it was closed. */
static inline int merganser_fcgx_finish(FCGX_Request *request)
{
    FCGX_Finish_r(request);
    return request->ipcFd;
}

/* Has the connection closed when the request ends. */
static inline void merganser_fcgx_do_not_keep(FCGX_Request *request) { request->keepConnection = 0; }
