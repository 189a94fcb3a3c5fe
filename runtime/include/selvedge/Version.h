/* The version of this library.
 * SPDX-License-Identifier: MIT */
#ifndef SELVEDGE_VERSION_H
#define SELVEDGE_VERSION_H

#define SELVEDGE_VERSION_MAJOR 0
#define SELVEDGE_VERSION_MINOR 1
#define SELVEDGE_VERSION_PATCH 0
/** One number to compare: 102 is 0.1.2, 10203 is 1.2.3. */
#define SELVEDGE_VERSION_NUMBER                                                \
  (SELVEDGE_VERSION_MAJOR * 10000 + SELVEDGE_VERSION_MINOR * 100 +             \
   SELVEDGE_VERSION_PATCH)

#define SELVEDGE_TEXT_OF(number) #number
#define SELVEDGE_TEXT(number) SELVEDGE_TEXT_OF(number)
/** "0.1.0". */
#define SELVEDGE_VERSION_TEXT                                                  \
  SELVEDGE_TEXT(SELVEDGE_VERSION_MAJOR)                                        \
  "." SELVEDGE_TEXT(SELVEDGE_VERSION_MINOR) "." SELVEDGE_TEXT(                 \
      SELVEDGE_VERSION_PATCH)

#endif
