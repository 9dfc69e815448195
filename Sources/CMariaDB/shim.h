#pragma once

#include <errmsg.h>
#include <mysql.h>
#include <mysqld_error.h>
