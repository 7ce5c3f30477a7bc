#include "text/type.h"

#include <stdio.h>

const vyre_type_bound vyre_type_bounds[VYRE_TYPE_BOUNDS] = {
    {"number", VYRE_CLASS_NUMBER},     {"int", VYRE_CLASS_INTEGER}, {"signed", VYRE_CLASS_SIGNED},
    {"unsigned", VYRE_CLASS_UNSIGNED}, {"float", VYRE_CLASS_FLOAT}, {"vector", VYRE_CLASS_NONE},
};

vyre_type_set vyre_type_bound_set(size_t bound) {
    vyre_type_class allowed = vyre_type_bounds[bound].allowed;
    vyre_type_set set = allowed ? 0 : VYRE_TYPE_SET_VECTORS;
    for (vyre_type type = VYRE_TYPE_BOOL; type < VYRE_TYPE_COUNT; type++) {
        set |= vyre_type_class_of(type) & allowed ? vyre_type_set_of(type) : 0;
    }
    return set;
}

void vyre_type_set_print(vyre_type_set set, vyre_strbuf *out) {
    const char *between = "";
    for (size_t i = 0; i < VYRE_TYPE_BOUNDS; i++) {
        vyre_type_set part = vyre_type_bound_set(i);
        if ((set & part) == part) {
            vyre_strbuf_printf(out, "%s%s", between, vyre_type_bounds[i].name);
            between = " | ";
            set &= ~part;
        }
    }
    for (vyre_type type = VYRE_TYPE_BOOL; type < VYRE_TYPE_COUNT; type++) {
        if (set & vyre_type_set_of(type)) {
            vyre_strbuf_printf(out, "%s%s", between, vyre_type_name(type));
            between = " | ";
        }
    }
}

void vyre_types_free(vyre_types *types) {
    vyre_vec_free(&types->structs);
    vyre_vec_free(&types->fields);
    vyre_vec_free(&types->leaf_types);
    vyre_vec_free(&types->leaf_offsets);
}

uint32_t vyre_type_width(const vyre_types *types, vyre_value_type type) {
    return vyre_type_is_struct(type) ? vyre_struct_of(types, type)->leaf_count
                                     : vyre_vector_count(type);
}

vyre_type vyre_leaf_type(const vyre_types *types, vyre_value_type type, uint32_t leaf) {
    return vyre_type_is_struct(type)
               ? (vyre_type)types->leaf_types.items[vyre_struct_of(types, type)->leaves + leaf]
               : vyre_scalar_of(type);
}

uint32_t vyre_value_bytes(const vyre_types *types, vyre_value_type type) {
    return vyre_type_is_struct(type)
               ? vyre_struct_of(types, type)->bytes
               : vyre_vector_count(type) * vyre_type_bytes(vyre_scalar_of(type));
}

uint32_t vyre_value_alignment(const vyre_types *types, vyre_value_type type) {
    return vyre_type_is_struct(type) ? vyre_struct_of(types, type)->alignment
                                     : vyre_type_bytes(vyre_scalar_of(type));
}

uint32_t vyre_leaf_offset(const vyre_types *types, vyre_value_type type, uint32_t leaf) {
    return vyre_type_is_struct(type)
               ? types->leaf_offsets.items[vyre_struct_of(types, type)->leaves + leaf]
               : leaf * vyre_type_bytes(vyre_scalar_of(type));
}

const vyre_field *vyre_struct_field(const vyre_types *types, vyre_value_type type, vyre_str name) {
    const vyre_struct *owner = vyre_struct_of(types, type);
    for (uint32_t i = 0; i < owner->field_count; i++) {
        const vyre_field *field = &types->fields.items[owner->fields + i];
        if (field->name.size == name.size && !memcmp(field->name.data, name.data, name.size)) {
            return field;
        }
    }
    return NULL;
}

const char *vyre_value_type_name(const vyre_types *types, vyre_value_type type,
                                 vyre_type_text *room) {
    if (vyre_type_is_scalar(type)) {
        return vyre_type_name((vyre_type)type);
    }
    if (vyre_type_is_parameter(type)) {
        return "a type parameter";
    }
    if (vyre_type_is_vector(type)) {
        snprintf(room->text, sizeof room->text, "vec%u<%s>", vyre_vector_count(type),
                 vyre_type_name(vyre_scalar_of(type)));
    } else {
        vyre_str name = vyre_struct_of(types, type)->name;
        snprintf(room->text, sizeof room->text, "%.*s", (int)name.size, name.data);
    }
    return room->text;
}

void vyre_leaf_path(const vyre_types *types, vyre_value_type type, uint32_t leaf, char *out,
                    size_t size) {
    *out = '\0';
    while (vyre_type_is_struct(type)) {
        const vyre_struct *owner = vyre_struct_of(types, type);
        const vyre_field *field = &types->fields.items[owner->fields];
        while (leaf >= field->first + vyre_type_width(types, field->type)) {
            field++;
        }
        int written = snprintf(out, size, ".%.*s", (int)field->name.size, field->name.data);
        if (written < 0 || (size_t)written >= size) {
            *out = '\0'; /* no room: the part in front has to do */
            return;
        }
        out += written;
        size -= (size_t)written;
        leaf -= field->first;
        type = field->type;
    }
    if (vyre_type_is_vector(type)) {
        snprintf(out, size, ".%c", "xyzw"[leaf]);
    }
}

void vyre_type_layout_print(const vyre_types *types, vyre_value_type type, vyre_strbuf *out) {
    const vyre_struct *owner = vyre_struct_of(types, type);
    vyre_type_text room;
    vyre_strbuf_printf(out, "struct %s: %u bytes, aligned to %u\n",
                       vyre_value_type_name(types, type, &room), owner->bytes, owner->alignment);
    for (uint32_t i = 0; i < owner->field_count; i++) {
        const vyre_field *field = &types->fields.items[owner->fields + i];
        vyre_strbuf_printf(out, "%8u  %.*s: %s\n", field->offset, (int)field->name.size,
                           field->name.data, vyre_value_type_name(types, field->type, &room));
    }
}

uint32_t vyre_swizzle_read(vyre_str text, uint32_t components, uint32_t out_indices[4]) {
    static const char *const sets[] = {"xyzw", "rgba"};
    for (size_t set = 0; set < 2 && text.size && text.size <= 4; set++) {
        uint32_t read = 0;
        while (read < text.size) {
            const char *found = memchr(sets[set], text.data[read], components);
            if (!found) {
                break;
            }
            out_indices[read++] = (uint32_t)(found - sets[set]);
        }
        if (read == text.size) {
            return read;
        }
    }
    return 0;
}
