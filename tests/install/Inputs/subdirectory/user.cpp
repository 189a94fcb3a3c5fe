// Has warnings that are its own business.
// SPDX-License-Identifier: MIT
#include "selvedge/Op.h"

int main(int argc, char **argv) { int unused; }
