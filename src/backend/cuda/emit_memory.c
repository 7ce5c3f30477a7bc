/* Arrays: every access stays inside, by a predicate where that is not known. Neighbouring elements
 * of the parts of a thread are one access where they are inside and aligned, which is looked at
 * when it comes to that. */
#include <stdio.h>

#include "backend/cuda/emit_state.h"
#include "ir/program.h"

const char *cuda_emit_space(const emit *e, uint32_t resource) {
    switch ((vyre_resource_kind)e->ir->resources[resource].kind) {
    case VYRE_RESOURCE_SHARED: return "shared";
    case VYRE_RESOURCE_PRIVATE: return "local";
    default: return "global";
    }
}

const char *cuda_emit_memory_type(vyre_type type) {
    switch (type) {
    case VYRE_TYPE_I8: return "s8";
    case VYRE_TYPE_BOOL:
    case VYRE_TYPE_U8: return "u8";
    case VYRE_TYPE_I16: return "s16";
    case VYRE_TYPE_U16:
    case VYRE_TYPE_F16:
    case VYRE_TYPE_BF16: return "u16";
    case VYRE_TYPE_I64:
    case VYRE_TYPE_U64: return "u64";
    case VYRE_TYPE_F32: return "f32";
    case VYRE_TYPE_F64: return "f64";
    default: return "u32";
    }
}

cuda_reg cuda_emit_zero(emit *e, cuda_class kind) {
    return cuda_in_register(&e->w, cuda_number(kind, 0));
}

static vyre_type element_type(const emit *e, uint32_t resource) {
    return (vyre_type)e->ir->resources[resource].type;
}

static bool is_local(const emit *e, uint32_t resource) {
    return e->ir->resources[resource].kind > VYRE_RESOURCE_SCRATCH;
}

/* In registers a bool in memory is a byte of its own. */
static cuda_class memory_class(vyre_type type) {
    return type == VYRE_TYPE_BOOL ? CUDA_B32 : cuda_class_of(type);
}

static cuda_reg to_memory(emit *e, vyre_type type, cuda_reg value) {
    value = type == VYRE_TYPE_BOOL ? cuda_choose(&e->w, value, cuda_u32(1), cuda_u32(0)) : value;
    return cuda_in_register(&e->w, value);
}

static cuda_reg from_memory(emit *e, vyre_type type, cuda_reg value) {
    return type == VYRE_TYPE_BOOL ? cuda_two(&e->w, "setp.ne.u32", CUDA_PRED, value, cuda_u32(0))
                                  : value;
}

/* The name of the block in which shared or private arrays are. */
static const char *block_name(const emit *e, uint32_t resource) {
    return e->ir->resources[resource].kind == VYRE_RESOURCE_SHARED ? "shared" : "private";
}

static cuda_reg is_inside(emit *e, uint32_t resource, vyre_type type, cuda_reg index) {
    if (cuda_width(type) == 64) {
        return cuda_two(&e->w, "setp.lt.u64", CUDA_PRED, index, cuda_emit_length(e, resource));
    }
    return cuda_two(&e->w, "setp.lt.u32", CUDA_PRED, index,
                    cuda_emit_limit(e, resource, cuda_is_signed(type)));
}

/* Of an element in global memory. */
static cuda_reg address_of(emit *e, uint32_t resource, vyre_type type, cuda_reg index) {
    uint32_t bytes = vyre_type_bytes(element_type(e, resource));
    cuda_reg base = cuda_emit_base(e, resource);
    return cuda_width(type) == 64
               ? cuda_three(&e->w, "mad.lo.u64", CUDA_B64, index, cuda_u64(bytes), base)
               : cuda_three(&e->w, "mad.wide.u32", CUDA_B64, index, cuda_u32(bytes), base);
}

static emit_place_text place_of(emit *e, uint32_t resource, vyre_type type, cuda_reg index) {
    uint32_t bytes = vyre_type_bytes(element_type(e, resource));
    emit_place_text place;
    if (is_local(e, resource)) {
        uint32_t offset = e->arrays[resource].offset;
        if (index.immediate) {
            snprintf(place.text, sizeof place.text, "[%s_%s+%u]", e->name, block_name(e, resource),
                     offset + (uint32_t)index.bits * bytes);
            return place;
        }
        cuda_reg narrow =
            cuda_width(type) == 64 ? cuda_one(&e->w, "cvt.u32.u64", CUDA_B32, index) : index;
        cuda_reg base = cuda_new(&e->w, CUDA_B32);
        cuda_line(&e->w, "mov.u32 %s, %s_%s", cuda_reg_name(base).text, e->name,
                  block_name(e, resource));
        cuda_reg at = cuda_three(&e->w, "mad.lo.u32", CUDA_B32, narrow, cuda_u32(bytes), base);
        snprintf(place.text, sizeof place.text, "[%s+%u]", cuda_reg_name(at).text, offset);
        return place;
    }
    cuda_reg base = cuda_emit_base(e, resource);
    bool far = index.immediate && index.bits * bytes > INT32_MAX;
    if (index.immediate && !far) {
        snprintf(place.text, sizeof place.text, "[%s+%llu]", cuda_reg_name(base).text,
                 (unsigned long long)(index.bits * bytes));
        return place;
    }
    snprintf(place.text, sizeof place.text, "[%s]",
             cuda_reg_name(address_of(e, resource, type, index)).text);
    return place;
}

emit_element cuda_emit_find(emit *e, uint32_t resource, uint32_t operand, uint32_t part) {
    vyre_type type = vyre_operand_type(e->ir, operand);
    cuda_reg index = cuda_emit_operand(e, operand, part);
    emit_element found = {.inside = cuda_none()};
    uint64_t length = e->ir->resources[resource].length;
    if (index.immediate &&
        (is_local(e, resource)
             ? index.bits >= length
             : index.bits > UINT32_MAX || (cuda_is_signed(type) && index.bits > INT32_MAX))) {
        found.never = true;
        return found;
    }
    if (!index.immediate || !is_local(e, resource)) {
        found.inside = is_inside(e, resource, type, index);
    }
    found.place = place_of(e, resource, type, index);
    return found;
}

/* Loads from memory that nobody writes while the phase runs may be kept close to the thread. */
static const char *load_name(const emit *e, uint32_t resource) {
    if (is_local(e, resource)) {
        return e->ir->resources[resource].kind == VYRE_RESOURCE_SHARED ? "ld.shared" : "ld.local";
    }
    return e->facts.written[resource] ? "ld.global" : "ld.global.nc";
}

static cuda_reg load_one(emit *e, uint32_t resource, uint32_t index, uint32_t part) {
    vyre_type type = element_type(e, resource);
    emit_element element = cuda_emit_find(e, resource, index, part);
    cuda_reg value = cuda_emit_zero(e, memory_class(type));
    if (!element.never) {
        cuda_emit_if(e, element.inside, "%s.%s %s, %s", load_name(e, resource),
                     cuda_emit_memory_type(type), cuda_reg_name(value).text, element.place.text);
    }
    return from_memory(e, type, value);
}

static void store_one(emit *e, uint32_t resource, uint32_t index, uint32_t value, uint32_t part) {
    vyre_type type = element_type(e, resource);
    emit_element element = cuda_emit_find(e, resource, index, part);
    if (!element.never) {
        cuda_reg stored = to_memory(e, type, cuda_emit_operand(e, value, part));
        cuda_emit_if(e, element.inside, "st.%s.%s %s, %s", cuda_emit_space(e, resource),
                     cuda_emit_memory_type(type), element.place.text, cuda_reg_name(stored).text);
    }
}

/* Rows: neighbouring elements of all parts. */

static bool is_row(const emit *e, uint32_t resource, uint32_t index) {
    return e->parts > 1 && e->end_part - e->first_part == e->parts && !is_local(e, resource) &&
           !(index & VYRE_CONSTANT) && emit_fact(e, index)->unit && !emit_fact(e, index)->shifted;
}

/* Whether it is the row at the thread's own position, which fits: otherwise the thread would have
 * taken its parts one by one. */
static bool is_own_row(const emit *e, uint32_t index) {
    return e->phase->dimensions == 1 && e->ir->insts[index].op == VYRE_OP_GID;
}

cuda_reg cuda_emit_own_rows_fit(emit *e, cuda_reg x) {
    cuda_writer *w = &e->w;
    uint32_t parts = e->facts.parts;
    cuda_reg reach = e->domain[0], odd = cuda_none();
    for (uint32_t r = 0; r < e->layout.array_count; r++) {
        bool found = false;
        for (uint32_t inst = e->phase->first; inst < e->phase->end && !found; inst++) {
            const vyre_inst *i = &e->ir->insts[inst];
            found = (i->op == VYRE_OP_LOAD || i->op == VYRE_OP_STORE) && i->a == r &&
                    !(i->b & VYRE_CONSTANT) && is_own_row(e, i->b);
        }
        if (found) {
            uint32_t bytes = vyre_type_bytes(element_type(e, r)) * parts;
            reach = cuda_two(w, "min.u64", CUDA_B64, reach, cuda_emit_length(e, r));
            cuda_reg low = cuda_one(w, "cvt.u32.u64", CUDA_B32, cuda_emit_base(e, r));
            low = cuda_two(w, "and.b32", CUDA_B32, low, cuda_u32(bytes - 1));
            odd = odd.kind ? cuda_two(w, "or.b32", CUDA_B32, odd, low) : low;
        }
    }
    cuda_reg end = cuda_two(w, "add.u64", CUDA_B64, x, cuda_u64(parts));
    cuda_reg fits = cuda_two(w, "setp.le.u64", CUDA_PRED, end, reach);
    if (odd.kind) {
        cuda_reg aligned = cuda_two(w, "setp.eq.u32", CUDA_PRED, odd, cuda_u32(0));
        fits = cuda_two(w, "and.pred", CUDA_PRED, fits, aligned);
    }
    return fits;
}

/* Whether a row is inside and aligned; and where it is. */
static cuda_reg row_fits(emit *e, uint32_t resource, vyre_type type, cuda_reg first, uint32_t count,
                         emit_place_text *out_place) {
    uint32_t bytes = vyre_type_bytes(element_type(e, resource)) * count;
    cuda_reg limit = cuda_emit_limit(e, resource, cuda_is_signed(type));
    cuda_reg room = cuda_two(&e->w, "sub.u32", CUDA_B32, limit, cuda_u32(count));
    cuda_reg inside = cuda_two(&e->w, "setp.le.u32", CUDA_PRED, first, room);
    cuda_reg long_enough = cuda_two(&e->w, "setp.ge.u32", CUDA_PRED, limit, cuda_u32(count));
    cuda_reg at = address_of(e, resource, type, first);
    snprintf(out_place->text, sizeof out_place->text, "[%s]", cuda_reg_name(at).text);
    cuda_reg low = cuda_one(&e->w, "cvt.u32.u64", CUDA_B32, at);
    cuda_reg rest = cuda_two(&e->w, "and.b32", CUDA_B32, low, cuda_u32(bytes - 1));
    cuda_reg aligned = cuda_two(&e->w, "setp.eq.u32", CUDA_PRED, rest, cuda_u32(0));
    inside = cuda_two(&e->w, "and.pred", CUDA_PRED, inside, long_enough);
    return cuda_two(&e->w, "and.pred", CUDA_PRED, inside, aligned);
}

/* A list of registers in braces, for an access of several. */
static void put_vector(emit *e, const cuda_reg *regs, uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        vyre_text_puts(&e->w.code, k ? ", " : "{");
        vyre_text_puts(&e->w.code, cuda_reg_name(regs[k]).text);
    }
    vyre_text_putc(&e->w.code, '}');
}

enum { MOST_PARTS = 16, MOST_VECTOR = 4 };

/* More elements than an access has are loaded as words, and taken apart. */
static void load_words(emit *e, const char *name, vyre_type type, const char *place,
                       const cuda_reg *values, uint32_t count) {
    uint32_t width = cuda_width(type), a_word = 32 / width, words = count / a_word;
    cuda_reg list[MOST_VECTOR] = {{0}};
    for (uint32_t k = 0; k < words; k++) {
        list[k] = cuda_new(&e->w, CUDA_B32);
    }
    vyre_text_printf(&e->w.code, "\t%s.v%u.u32 ", name, words);
    put_vector(e, list, words);
    vyre_text_printf(&e->w.code, ", %s;\n", place);
    for (uint32_t k = 0; k < count; k++) {
        cuda_line(&e->w, "bfe.%s %s, %s, %u, %u", cuda_is_signed(type) ? "s32" : "u32",
                  cuda_reg_name(values[k]).text, cuda_reg_name(list[k / a_word]).text,
                  k % a_word * width, width);
    }
}

static void load_vector(emit *e, uint32_t resource, const char *place, const cuda_reg *values,
                        uint32_t count) {
    vyre_type type = element_type(e, resource);
    if (count > MOST_VECTOR) {
        load_words(e, load_name(e, resource), type, place, values, count);
        return;
    }
    vyre_text_printf(&e->w.code, "\t%s.v%u.%s ", load_name(e, resource), count,
                     cuda_emit_memory_type(type));
    put_vector(e, values, count);
    vyre_text_printf(&e->w.code, ", %s;\n", place);
}

void cuda_emit_row(emit *e, uint32_t resource, vyre_type index_type, cuda_reg first, uint32_t count,
                   cuda_reg *out_values) {
    vyre_type type = element_type(e, resource);
    emit_place_text place;
    uint32_t apart = cuda_emit_label(e), behind = cuda_emit_label(e);
    cuda_reg values[MOST_PARTS] = {{0}};
    for (uint32_t k = 0; k < count; k++) {
        values[k] = cuda_new(&e->w, memory_class(type));
    }
    cuda_emit_branch(e, row_fits(e, resource, index_type, first, count, &place), false, apart,
                     false);
    load_vector(e, resource, place.text, values, count);
    cuda_emit_jump(e, behind);
    cuda_emit_place(e, apart);
    for (uint32_t k = 0; k < count; k++) {
        cuda_reg index = k ? cuda_two(&e->w, "add.u32", CUDA_B32, first, cuda_u32(k)) : first;
        cuda_reg inside = is_inside(e, resource, index_type, index);
        cuda_reg at = address_of(e, resource, index_type, index);
        cuda_move(&e->w, values[k], cuda_number((cuda_class)values[k].kind, 0));
        cuda_emit_if(e, inside, "%s.%s %s, [%s]", load_name(e, resource),
                     cuda_emit_memory_type(type), cuda_reg_name(values[k]).text,
                     cuda_reg_name(at).text);
    }
    cuda_emit_place(e, behind);
    for (uint32_t k = 0; k < count; k++) {
        out_values[k] = from_memory(e, type, values[k]);
    }
}

static void load_row(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_type type = element_type(e, i->a), index_type = vyre_operand_type(e->ir, i->b);
    cuda_reg values[MOST_PARTS] = {{0}}, first = cuda_emit_operand(e, i->b, 0);
    if (is_own_row(e, i->b)) {
        for (uint32_t k = 0; k < e->parts; k++) {
            values[k] = cuda_new(&e->w, memory_class(type));
        }
        load_vector(e, i->a, place_of(e, i->a, index_type, first).text, values, e->parts);
        for (uint32_t k = 0; k < e->parts; k++) {
            values[k] = from_memory(e, type, values[k]);
        }
    } else {
        cuda_emit_row(e, i->a, index_type, first, e->parts, values);
    }
    for (uint32_t k = 0; k < e->parts; k++) {
        *emit_slot(e, inst, k) = values[k];
    }
}

static void store_row(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_type type = element_type(e, i->a);
    uint32_t width = cuda_width(type), apart = cuda_emit_label(e), behind = cuda_emit_label(e);
    emit_place_text place;
    cuda_reg values[MOST_PARTS] = {{0}}, words[MOST_VECTOR] = {{0}};
    for (uint32_t k = 0; k < e->parts; k++) {
        values[k] = to_memory(e, type, cuda_emit_operand(e, i->c, k));
    }
    vyre_type index_type = vyre_operand_type(e->ir, i->b);
    cuda_reg first = cuda_emit_operand(e, i->b, 0);
    bool fits = is_own_row(e, i->b);
    if (fits) {
        place = place_of(e, i->a, index_type, first);
    } else {
        cuda_reg inside = row_fits(e, i->a, index_type, first, e->parts, &place);
        cuda_emit_branch(e, inside, false, apart, false);
    }
    if (e->parts > MOST_VECTOR) {
        uint32_t a_word = 32 / width, count = e->parts / a_word;
        for (uint32_t k = 0; k < e->parts; k++) {
            cuda_reg *word = &words[k / a_word];
            cuda_reg before = k % a_word ? *word : cuda_u32(0);
            *word = cuda_new(&e->w, CUDA_B32);
            cuda_line(&e->w, "bfi.b32 %s, %s, %s, %u, %u", cuda_reg_name(*word).text,
                      cuda_reg_name(values[k]).text, cuda_reg_name(before).text, k % a_word * width,
                      width);
        }
        vyre_text_printf(&e->w.code, "\tst.global.v%u.u32 %s, ", count, place.text);
        put_vector(e, words, count);
    } else {
        vyre_text_printf(&e->w.code, "\tst.global.v%u.%s %s, ", e->parts,
                         cuda_emit_memory_type(type), place.text);
        put_vector(e, values, e->parts);
    }
    vyre_text_puts(&e->w.code, ";\n");
    if (fits) {
        return;
    }
    cuda_emit_jump(e, behind);
    cuda_emit_place(e, apart);
    for (uint32_t k = 0; k < e->parts; k++) {
        emit_element element = cuda_emit_find(e, i->a, i->b, k);
        cuda_emit_if(e, element.inside, "st.global.%s %s, %s", cuda_emit_memory_type(type),
                     element.place.text, cuda_reg_name(values[k]).text);
    }
    cuda_emit_place(e, behind);
}

void cuda_emit_load(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    for (uint32_t k = 0; k < e->ahead.count; k++) {
        if (e->ahead.insts[k] == inst) { /* is there already */
            *emit_slot(e, inst, emit_first(e, inst)) = e->ahead.values[k][e->ahead.turn];
            return;
        }
    }
    if (is_row(e, i->a, i->b)) {
        load_row(e, inst);
        return;
    }
    for (uint32_t part = emit_first(e, inst); part < emit_end(e, inst); part++) {
        *emit_slot(e, inst, part) = load_one(e, i->a, i->b, part);
    }
}

static void write_store(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    if (is_row(e, i->a, i->b)) {
        store_row(e, inst);
        return;
    }
    bool alike = !cuda_varies(&e->facts, i->b) && !cuda_varies(&e->facts, i->c);
    uint32_t end = alike ? e->first_part + 1 : e->end_part;
    for (uint32_t part = e->first_part; part < end; part++) {
        store_one(e, i->a, i->b, i->c, part);
    }
}

/* A private array to zero: each starts at a multiple of 16 bytes. */
void cuda_emit_clear(emit *e, uint32_t resource) {
    enum { WRITTEN_OUT = 512 };
    const vyre_resource *row = &e->ir->resources[resource];
    uint32_t bytes = row->length * vyre_type_bytes((vyre_type)row->type);
    uint32_t end = (bytes + 15) / 16 * 16, offset = e->arrays[resource].offset;
    cuda_reg zero = cuda_emit_zero(e, CUDA_B32);
    cuda_name text = cuda_reg_name(zero);
    const char *name = text.text;
    if (end <= WRITTEN_OUT) {
        for (uint32_t at = 0; at < end; at += 16) {
            cuda_line(&e->w, "st.local.v4.u32 [%s_private+%u], {%s, %s, %s, %s}", e->name,
                      offset + at, name, name, name, name);
        }
        return;
    }
    uint32_t head = cuda_emit_label(e);
    cuda_reg at = cuda_new(&e->w, CUDA_B32), last = cuda_new(&e->w, CUDA_B32);
    cuda_line(&e->w, "mov.u32 %s, %s_private", cuda_reg_name(at).text, e->name);
    cuda_line(&e->w, "add.u32 %s, %s, %u", cuda_reg_name(last).text, cuda_reg_name(at).text, end);
    cuda_emit_place(e, head);
    cuda_line(&e->w, "st.local.v4.u32 [%s+%u], {%s, %s, %s, %s}", cuda_reg_name(at).text, offset,
              name, name, name, name);
    cuda_line(&e->w, "add.u32 %s, %s, 16", cuda_reg_name(at).text, cuda_reg_name(at).text);
    cuda_emit_branch(e, cuda_two(&e->w, "setp.ne.u32", CUDA_PRED, at, last), true, head, true);
}

void cuda_emit_memory(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    switch (i->op) {
    case VYRE_OP_LOAD: cuda_emit_load(e, inst); break;
    case VYRE_OP_STORE: write_store(e, inst); break;
    case VYRE_OP_CLEAR: cuda_emit_clear(e, i->a); break;
    default: cuda_emit_atomic(e, inst); break;
    }
}
