#include "CCommit.h"

#ifndef MERGANSER_COMMIT
#define MERGANSER_COMMIT "development"
#endif

const char *const merganser_commit = MERGANSER_COMMIT;
