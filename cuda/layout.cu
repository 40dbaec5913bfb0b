// layout.cu: only assertions, that hybz.h and limits.h agree with layout.inc.
#include "hybz.h"

#define FIELD(structure, field, at) \
    static_assert(offsetof(struct structure, field) == at, "layout.inc has another place");
#define SIZE(structure, bytes) static_assert(sizeof(struct structure) == bytes, "layout.inc has another size");
#define LIMIT(limit, value) static_assert((limit) == value, "layout.inc has another limit");
#include "layout.inc"
