#include "text/lower_view.h"
#include "ir/builder.h"
#include "ir/lookup.h"
#include "text/lower_array.h"

/* Handles from here on are views. */
static const uint32_t first_view = (uint32_t)1 << 31;

static bool is_view(uint32_t handle) {
    return handle >= first_view && handle != VYRE_NONE;
}

uint32_t lower_viewed(const vyre_lower *lower, uint32_t handle) {
    return is_view(handle) ? lower->views.items[handle - first_view].resource : handle;
}

uint32_t lower_resource_of(const vyre_lower *lower, const vyre_name_binding *array) {
    return lower_viewed(lower, lower_leaf_handle(lower, array->type, array->handle, 0));
}

static vyre_type viewed_type(const vyre_lower *lower, uint32_t resource) {
    return vyre_resource_type(&lower->builder->resources.items[resource].row);
}

/* Code */

static uint32_t op2(vyre_lower *lower, vyre_op op, uint32_t a, uint32_t b) {
    return vyre_build_op(lower->builder, op, a, b, VYRE_NONE);
}

static vyre_type unsigned_of(uint32_t bytes) {
    return bytes == 1   ? VYRE_TYPE_U8
           : bytes == 2 ? VYRE_TYPE_U16
           : bytes == 4 ? VYRE_TYPE_U32
                        : VYRE_TYPE_U64;
}

static uint32_t as(vyre_lower *lower, vyre_type type, uint32_t value) {
    bool is_same = vyre_build_type(lower->builder, value) == type;
    return is_same ? value : vyre_build_bitcast(lower->builder, type, value);
}

/* Where a scalar lies in the array. */
typedef struct location {
    uint32_t first;  /* element that it starts in */
    uint32_t count;  /* of elements that it covers */
    uint32_t shift;  /* of a part of one: its lowest bit; VYRE_NONE for 0 */
    vyre_type index; /* type of `first` */
} location;

/* An index as a u64 or, where it is one, a u32. One past the end stays past the end. */
static uint32_t plain_index(vyre_lower *lower, uint32_t index, vyre_type type) {
    return type == VYRE_TYPE_U32 ? index : vyre_build_convert(lower->builder, VYRE_TYPE_U64, index);
}

/* Several elements make one of the view, so its index has to be multiplied: in 64 bits, where
 * nothing is lost. */
static location locate_in_several(vyre_lower *lower, const vyre_view *view, uint32_t index,
                                  uint32_t bytes) {
    vyre_builder *builder = lower->builder;
    vyre_type type = vyre_build_type(builder, index);
    uint32_t size = vyre_type_bytes((vyre_type)view->type), rest = view->offset % bytes * 8;
    uint32_t wide = vyre_build_convert(builder, VYRE_TYPE_U64, index);
    if (type != VYRE_TYPE_U32) {
        uint32_t past_all = vyre_build_const(builder, VYRE_TYPE_U64, (uint64_t)1 << 32);
        wide = op2(lower, VYRE_OP_MIN, wide, past_all);
    }
    uint32_t count = vyre_build_const(builder, VYRE_TYPE_U64, view->stride / bytes);
    uint32_t first = op2(lower, VYRE_OP_MUL, wide, count);
    if (view->offset / bytes) {
        uint32_t offset = vyre_build_const(builder, VYRE_TYPE_U64, view->offset / bytes);
        first = op2(lower, VYRE_OP_ADD, first, offset);
    }
    return (location){first, size > bytes ? size / bytes : 1,
                      rest ? vyre_build_u32(builder, rest) : VYRE_NONE, VYRE_TYPE_U64};
}

/* One element holds several of the view. */
static location locate_in_one(vyre_lower *lower, const vyre_view *view, uint32_t index,
                              uint32_t bytes) {
    vyre_builder *builder = lower->builder;
    vyre_type type = vyre_build_type(builder, index);
    uint32_t plain = plain_index(lower, index, type), count = bytes / view->stride;
    type = vyre_build_type(builder, plain);
    uint32_t divisor = vyre_build_const(builder, type, count);
    uint32_t part = op2(lower, VYRE_OP_REM, plain, divisor);
    part = op2(lower, VYRE_OP_MUL, vyre_build_convert(builder, VYRE_TYPE_U32, part),
               vyre_build_u32(builder, view->stride * 8));
    if (view->offset) {
        part = op2(lower, VYRE_OP_ADD, part, vyre_build_u32(builder, view->offset * 8));
    }
    return (location){op2(lower, VYRE_OP_DIV, plain, divisor), 1, part, type};
}

static location locate(vyre_lower *lower, const vyre_view *view, uint32_t index) {
    uint32_t bytes = vyre_type_bytes(viewed_type(lower, view->resource));
    if (view->stride == bytes && vyre_type_bytes((vyre_type)view->type) == bytes) {
        return (location){index, 1, VYRE_NONE, vyre_build_type(lower->builder, index)};
    }
    return view->stride >= bytes ? locate_in_several(lower, view, index, bytes)
                                 : locate_in_one(lower, view, index, bytes);
}

static uint32_t element(vyre_lower *lower, const location *at, uint32_t k) {
    return k ? op2(lower, VYRE_OP_ADD, at->first, vyre_build_const(lower->builder, at->index, k))
             : at->first;
}

static uint32_t load(vyre_lower *lower, uint32_t resource, uint32_t index, vyre_op op) {
    return op == VYRE_OP_UNIFORM_LOAD ? vyre_build_uniform_load(lower->builder, resource, index)
                                      : vyre_build_load(lower->builder, resource, index);
}

/* What is no integer gets its report from the builder, as the index of any array. */
static bool is_index(const vyre_lower *lower, uint32_t index) {
    return vyre_type_class_of(vyre_build_type(lower->builder, index)) & VYRE_CLASS_INTEGER;
}

uint32_t lower_load(vyre_lower *lower, uint32_t handle, uint32_t index, vyre_op op) {
    if (!is_view(handle) || !is_index(lower, index)) {
        return load(lower, lower_viewed(lower, handle), index, op);
    }
    vyre_builder *builder = lower->builder;
    vyre_view view = lower->views.items[handle - first_view];
    uint32_t bytes = vyre_type_bytes(viewed_type(lower, view.resource));
    uint32_t size = vyre_type_bytes((vyre_type)view.type), bits = VYRE_NONE;
    vyre_type whole = unsigned_of(size > bytes ? size : bytes);
    location at = locate(lower, &view, index);
    for (uint32_t k = 0; k < at.count; k++) {
        uint32_t part = load(lower, view.resource, element(lower, &at, k), op);
        if (part == VYRE_NONE) {
            return VYRE_NONE;
        }
        if (at.count == 1 && size == bytes) {
            return as(lower, (vyre_type)view.type, part);
        }
        part = vyre_build_convert(builder, whole, as(lower, unsigned_of(bytes), part));
        part = k ? op2(lower, VYRE_OP_SHL, part, vyre_build_u32(builder, k * bytes * 8)) : part;
        bits = k ? op2(lower, VYRE_OP_OR, bits, part) : part;
    }
    bits = at.shift == VYRE_NONE ? bits : op2(lower, VYRE_OP_SHR, bits, at.shift);
    bits = size < bytes ? vyre_build_convert(builder, unsigned_of(size), bits) : bits;
    return as(lower, (vyre_type)view.type, bits);
}

void lower_store(vyre_lower *lower, uint32_t handle, uint32_t index, uint32_t value) {
    vyre_builder *builder = lower->builder;
    if (!is_view(handle) || !is_index(lower, index)) {
        vyre_build_store(builder, lower_viewed(lower, handle), index, value);
        return;
    }
    vyre_view view = lower->views.items[handle - first_view];
    vyre_type type = viewed_type(lower, view.resource);
    uint32_t bytes = vyre_type_bytes(type);
    vyre_type whole = unsigned_of(vyre_type_bytes((vyre_type)view.type));
    location at = locate(lower, &view, index);
    uint32_t bits = at.count == 1 ? value : as(lower, whole, value);
    for (uint32_t k = 0; k < at.count; k++) {
        uint32_t part = bits;
        if (at.count > 1) {
            part = k ? op2(lower, VYRE_OP_SHR, bits, vyre_build_u32(builder, k * bytes * 8)) : bits;
            part = vyre_build_convert(builder, unsigned_of(bytes), part);
        }
        vyre_build_store(builder, view.resource, element(lower, &at, k), as(lower, type, part));
    }
}

uint32_t lower_len(vyre_lower *lower, const vyre_name_binding *array) {
    uint32_t handle = lower_leaf_handle(lower, array->type, array->handle, 0);
    uint32_t length = vyre_build_len(lower->builder, lower_viewed(lower, handle));
    if (!is_view(handle) || length == VYRE_NONE) {
        return length;
    }
    vyre_view view = lower->views.items[handle - first_view];
    uint32_t bytes = vyre_type_bytes(viewed_type(lower, view.resource));
    bool is_longer = view.stride < bytes;
    uint32_t count = is_longer ? bytes / view.stride : view.stride / bytes;
    return count == 1 ? length
                      : op2(lower, is_longer ? VYRE_OP_MUL : VYRE_OP_DIV, length,
                            vyre_build_u32(lower->builder, count));
}

bool lower_refuse_view(vyre_lower *lower, uint32_t handle, uint32_t symbol, const char *what,
                       vyre_spot spot) {
    vyre_name_text text;
    if (is_view(handle)) {
        lower_report(lower, spot, 402, "use the array that it shows",
                     "`%s` is a view, which %s does not take", lower_name(lower, symbol, &text),
                     what);
    }
    return is_view(handle);
}

/* Declarations */

static bool has_bool(const vyre_lower *lower, vyre_value_type type) {
    uint32_t width = lower_width(lower, type);
    bool found = false;
    for (uint32_t i = 0; i < width; i++) {
        found |= vyre_leaf_type(&lower->types, type, i) == VYRE_TYPE_BOOL;
    }
    return found;
}

/* Whether a view of such elements can be of the array, which has scalars; reports if not. */
static bool check_types(vyre_lower *lower, vyre_node name, const vyre_name_binding *array) {
    vyre_value_type type = name.detail;
    vyre_spot spot = vyre_node_spot(&name);
    vyre_name_text text;
    vyre_type_text rooms[2];
    if (!vyre_type_is_scalar(array->type)) {
        lower_report(lower, spot, 301,
                     "declare the array with elements of a number type, such as u8, and view it",
                     "`%s` has elements of type %s, and a view needs an array of numbers",
                     lower_name(lower, array->symbol, &text),
                     lower_type_name(lower, array->type, &rooms[0]));
        return false;
    }
    if (has_bool(lower, type) || array->type == VYRE_TYPE_BOOL) {
        lower_report(lower, spot, 306, "use u8 and compare with 0",
                     "a view shows bytes, and those of a bool are 0 and 1 only");
        return false;
    }
    uint32_t size = vyre_value_bytes(&lower->types, type);
    uint32_t bytes = vyre_type_bytes(viewed_type(lower, lower_resource_of(lower, array)));
    if (size % bytes && bytes % size) {
        lower_report(lower, spot, 604, "view an array of smaller elements, such as u8",
                     "elements of %s have %u bytes, and do not fill elements of %u bytes",
                     lower_type_name(lower, type, &rooms[0]), size, bytes);
        return false;
    }
    return true;
}

/* A store of a part of an element would write the other parts, which other invocations may do at
 * the same time. */
static bool check_written(vyre_lower *lower, vyre_node name, const vyre_name_binding *array,
                          vyre_node array_name) {
    vyre_value_type type = name.detail;
    uint32_t bytes = vyre_type_bytes(viewed_type(lower, lower_resource_of(lower, array)));
    uint32_t width = lower_width(lower, type);
    if (!lower_check_writable(lower, array_name, array)) {
        return false;
    }
    for (uint32_t i = 0; i < width; i++) {
        vyre_type scalar = vyre_leaf_type(&lower->types, type, i);
        if (vyre_type_bytes(scalar) < bytes) {
            vyre_name_text text;
            lower_report(lower, vyre_node_spot(&name), 402,
                         "leave out `inout`, or declare the array with elements that are not "
                         "larger than any of the view, such as u8",
                         "`%s` is written as %s, which is only a part of its elements",
                         lower_name(lower, array->symbol, &text), vyre_type_name(scalar));
            return false;
        }
    }
    return true;
}

static uint32_t scale(vyre_lower *lower, vyre_size_op op, uint32_t size, uint32_t by) {
    uint32_t copy = vyre_build_size_copy(lower->builder, size);
    return by == 1 ? copy
                   : vyre_build_size_op(lower->builder, op, copy,
                                        vyre_build_size_const(lower->builder, by));
}

static uint32_t common_divisor(uint32_t a, uint32_t b) {
    return b ? common_divisor(b, a % b) : a;
}

/* False, after a report, for a length that is a number and leaves bytes over. */
static bool check_length(vyre_lower *lower, vyre_node name, const vyre_name_binding *array,
                         uint32_t length) {
    uint64_t size = vyre_value_bytes(&lower->types, name.detail), number;
    vyre_name_text text;
    vyre_type_text room;
    if (!lower_size_is_number(lower, length, &number) ||
        !(number % size * vyre_type_bytes((vyre_type)array->type) % size)) {
        return true;
    }
    lower_report(lower, vyre_node_spot(&name), 604, "give the array a length that they fill",
                 "`%s` has %llu elements of %s, which are no whole number of %s of %llu bytes",
                 lower_name(lower, array->symbol, &text), (unsigned long long)number,
                 vyre_type_name((vyre_type)array->type), lower_type_name(lower, name.detail, &room),
                 (unsigned long long)size);
    return false;
}

/* The length of a view as a size. The host makes sure that no byte of the array is left over, and
 * that a u32 can count the elements. */
static uint32_t view_length(vyre_lower *lower, vyre_node name, const vyre_name_binding *array) {
    vyre_builder *builder = lower->builder;
    uint32_t size = vyre_value_bytes(&lower->types, name.detail);
    uint32_t bytes = vyre_type_bytes((vyre_type)array->type);
    uint32_t divisor = common_divisor(size, bytes);
    uint32_t length = lower_length_of(lower, array);
    if (length == VYRE_NONE || size == bytes) {
        return length;
    }
    if (!check_length(lower, name, array, length)) {
        return VYRE_NONE;
    }
    uint32_t all = scale(lower, VYRE_SIZE_MUL, length, bytes / divisor);
    uint32_t result = scale(lower, VYRE_SIZE_DIV, all, size / divisor);
    uint32_t whole = scale(lower, VYRE_SIZE_MUL, result, size / divisor);
    if (size < bytes) {
        uint32_t most = vyre_build_size_const(builder, UINT32_MAX);
        vyre_build_require(builder, vyre_build_size_copy(builder, result),
                           vyre_build_size_op(builder, VYRE_SIZE_MIN,
                                              vyre_build_size_copy(builder, result), most));
    }
    vyre_build_require(builder, all, whole); /* nothing where they are the same */
    return result;
}

static bool add_views(vyre_lower *lower, vyre_value_type type, uint32_t resource,
                      uint32_t *out_handle) {
    uint32_t width = lower_width(lower, type);
    *out_handle = vyre_type_is_scalar(type) ? first_view + (uint32_t)lower->views.count
                                            : (uint32_t)lower->leaves.count;
    for (uint32_t i = 0; i < width; i++) {
        uint64_t handle = first_view + lower->views.count;
        vyre_view view = {.resource = resource,
                          .type = (uint8_t)vyre_leaf_type(&lower->types, type, i),
                          .stride = vyre_value_bytes(&lower->types, type),
                          .offset = vyre_leaf_offset(&lower->types, type, i)};
        if (!vyre_vec_push(&lower->views, view)) {
            lower_no_memory(lower);
            return false;
        }
        if (!vyre_type_is_scalar(type) && !lower_add_leaf(lower, handle)) {
            return false;
        }
    }
    return width > 0;
}

/* The array that a view is of. A view of a view is one of what that is of: both cover all of it. */
static bool bind_view(vyre_lower *lower, vyre_node argument, vyre_node array_name,
                      vyre_name_binding *binding) {
    vyre_node name = lower_node(lower, argument.a);
    const vyre_name_binding *found =
        array_name.kind == VYRE_NODE_NAME ? lower_array(lower, array_name, array_name.a) : NULL;
    if (!found || name.kind != VYRE_NODE_NAME || !name.detail) {
        return false;
    }
    vyre_name_binding array = *found;
    if (!lower_width(lower, name.detail)) {
        lower->poisoned = true; /* the struct itself is wrong */
        lower_spoil(lower);
        return false;
    }
    if (!check_types(lower, name, &array) ||
        (binding->writable && !check_written(lower, name, &array, array_name))) {
        return false;
    }
    lower_at(lower, vyre_node_spot(&name));
    binding->size = view_length(lower, name, &array);
    if (binding->size == VYRE_NONE ||
        !add_views(lower, name.detail, lower_resource_of(lower, &array), &binding->handle)) {
        return false;
    }
    if (argument.b != VYRE_NONE) {
        uint32_t stated = lower_size(lower, argument.b);
        lower_at(lower, vyre_node_spot(&name));
        if (stated == VYRE_NONE) {
            return false;
        }
        vyre_build_require(lower->builder, vyre_build_size_copy(lower->builder, binding->size),
                           stated);
        binding->shape = lower_shape(lower, name.b);
    }
    return true;
}

void lower_view(vyre_lower *lower, vyre_node node) {
    vyre_node argument = lower_node(lower, node.a);
    vyre_node array = node.b == VYRE_NONE ? (vyre_node){0} : lower_node(lower, node.b);
    vyre_node name = lower_node(lower, argument.a);
    vyre_name_binding binding = {.kind = VYRE_BINDING_POISON,
                                 .type = name.detail,
                                 .size = VYRE_NONE,
                                 .writable = argument.detail == VYRE_ARGUMENT_INOUT,
                                 .used = true};
    if (bind_view(lower, argument, array, &binding)) {
        binding.kind = VYRE_BINDING_ARRAY;
        binding.used = false;
    }
    lower_bind(lower, name, binding);
}
