/* SPDX-License-Identifier: MIT
 * banned.h - functions that must not be used; included by every .c of gqd through the compiler line */
#ifndef GQ_BASE_BANNED_H
#define GQ_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BANNED(f) sorry_##f##_is_banned
#undef strcpy
#define strcpy BANNED(strcpy)
#undef strcat
#define strcat BANNED(strcat)
#undef strncpy
#define strncpy BANNED(strncpy)
#undef strncat
#define strncat BANNED(strncat)
#undef strtok
#define strtok BANNED(strtok)
#undef sprintf
#define sprintf BANNED(sprintf)
#undef vsprintf
#define vsprintf BANNED(vsprintf)
#undef gets
#define gets BANNED(gets)
#undef atoi
#define atoi BANNED(atoi)
#undef localtime
#define localtime BANNED(localtime)
#undef gmtime
#define gmtime BANNED(gmtime)
#undef ctime
#define ctime BANNED(ctime)
#undef asctime
#define asctime BANNED(asctime)

#endif
