/* A module as text. It knows what the writer writes; the rest are numbers. */
#include <string.h>

#include "backend/spirv/ahead.h"
#include "backend/spirv/spv.h"
#include "base/alloc.h"

typedef struct op_row {
    const char *name, *operands;
} op_row;

static op_row row_of(uint32_t op) {
    switch (op) {
#define ROW(name, number, operands)                                                                \
    case number: return (op_row){"Op" #name, operands};
        SPV_OPS(ROW)
#undef ROW
    default: return (op_row){NULL, NULL};
    }
}

/* The word that stands for a number of a kind, or NULL. */
static const char *word_of(char kind, uint32_t number) {
    static const struct {
        const char *kind, *name;
        uint32_t number;
    } words[] = {
#define WORD(kind, name, number) {#kind, #name, number},
        SPV_WORDS(WORD)
#undef WORD
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (*words[i].kind == kind && words[i].number == number) {
            return words[i].name;
        }
    }
    return NULL;
}

typedef struct reader {
    const uint32_t *words;
    size_t at, end; /* of the instruction */
    vyre_strbuf *out;
    const uint8_t *kinds; /* by id: 'f' a type of floats of one word, 'd' of two */
} reader;

static void put_word(reader *r, char kind, uint32_t number) {
    const char *word = word_of(kind, number);
    if (word) {
        vyre_strbuf_printf(r->out, " %s", word);
    } else {
        vyre_strbuf_printf(r->out, " %u", number);
    }
}

static void put_string(reader *r) {
    bool ended = false;
    vyre_strbuf_puts(r->out, " \"");
    while (r->at < r->end && !ended) {
        uint32_t word = r->words[r->at++];
        for (uint32_t i = 0; i < 4 && !ended; i++) {
            char c = (char)(word >> 8 * i & 0xff);
            ended = !c;
            if (c == '"' || c == '\\') {
                vyre_strbuf_putc(r->out, '\\');
            }
            if (c) {
                vyre_strbuf_putc(r->out, c);
            }
        }
    }
    vyre_strbuf_putc(r->out, '"');
}

/* Names joined by bars, as the bits say. */
static void put_bits(reader *r, const char *const *names, uint32_t count, uint32_t bits) {
    const char *before = " ";
    for (uint32_t i = 0; i < count; i++) {
        if (bits >> i & 1 && names[i]) {
            vyre_strbuf_printf(r->out, "%s%s", before, names[i]);
            before = "|";
        }
    }
    vyre_strbuf_puts(r->out, bits ? "" : " None");
}

static void put_memory(reader *r) {
    static const char *const names[] = {"Volatile", "Aligned", NULL,
                                        NULL,       NULL,      "NonPrivatePointer"};
    uint32_t bits = r->words[r->at++];
    put_bits(r, names, sizeof names / sizeof *names, bits);
    while (r->at < r->end) {
        vyre_strbuf_printf(r->out, " %u", r->words[r->at++]);
    }
}

/* A constant, as the digits of its bits: those of floats are written so, too. */
static void put_number(reader *r, uint32_t type) {
    uint64_t bits = r->words[r->at++];
    if (r->at < r->end) {
        bits |= (uint64_t)r->words[r->at++] << 32;
    }
    if (r->kinds[type] == 'f') {
        vyre_strbuf_printf(r->out, " !0x%08x", (uint32_t)bits);
    } else if (r->kinds[type] == 'd') {
        vyre_strbuf_printf(r->out, " !0x%08x !0x%08x", (uint32_t)bits, (uint32_t)(bits >> 32));
    } else {
        vyre_strbuf_printf(r->out, " %llu", (unsigned long long)bits);
    }
}

static void put_ids(reader *r) {
    while (r->at < r->end) {
        vyre_strbuf_printf(r->out, " %%%u", r->words[r->at++]);
    }
}

static void put_operand(reader *r, char kind, uint32_t type) {
    uint32_t word = r->words[r->at];
    switch (kind) {
    case 'i': vyre_strbuf_printf(r->out, " %%%u", word); break;
    case 'I': put_ids(r); return;
    case 's': put_string(r); return;
    case 'v': put_number(r, type); return;
    case 'o': put_memory(r); return;
    case 'F':
    case 'L':
    case 'c': put_bits(r, NULL, 0, word); break;
    case 'D':
        put_word(r, kind, word);
        if (word == SPV_D_BuiltIn && r->at + 1 < r->end) {
            put_word(r, 'B', r->words[++r->at]);
        }
        break;
    case 'N':
        while (r->at < r->end) {
            vyre_strbuf_printf(r->out, " %u", r->words[r->at++]);
        }
        return;
    default: put_word(r, kind, word); break;
    }
    r->at++;
}

static void put_instruction(reader *r, uint32_t op, uint32_t bound) {
    op_row row = row_of(op);
    const char *kinds = row.operands ? row.operands : "N";
    uint32_t type = 0, result = 0;
    if (*kinds == 't' && r->at < r->end) {
        type = r->words[r->at++];
        kinds++;
    }
    if (*kinds == 'r' && r->at < r->end) {
        result = r->words[r->at++];
        kinds++;
        vyre_strbuf_printf(r->out, "%%%u = ", result);
    }
    if (row.name) {
        vyre_strbuf_puts(r->out, row.name);
    } else {
        vyre_strbuf_printf(r->out, "!%u", op);
    }
    if (type) {
        vyre_strbuf_printf(r->out, " %%%u", type);
    }
    for (; *kinds && r->at < r->end; kinds++) {
        put_operand(r, *kinds, type < bound ? type : 0);
    }
    vyre_strbuf_putc(r->out, '\n');
}

/* Which types are floats, by id: their constants are written as bits. */
static void note_type(uint8_t *kinds, const uint32_t *words, uint32_t bound) {
    enum { LONG = 64 };
    if ((words[0] & 0xffff) == SPV_TypeFloat && words[0] >> 16 > 2 && words[1] < bound) {
        kinds[words[1]] = words[2] == LONG ? 'd' : 'f';
    }
}

bool spirv_disassemble(const spirv_module *module, vyre_strbuf *out) {
    enum { VERSION = 1, BOUND = 3 };
    if (module->count < SPV_HEADER || module->words[0] != SPV_MAGIC) {
        return false;
    }
    uint32_t bound = module->words[BOUND], version = module->words[VERSION];
    uint8_t *kinds = vyre_alloc_zeroed((size_t)bound + 1, 1);
    size_t at = SPV_HEADER, size = kinds ? 1 : 0;
    vyre_strbuf_printf(out, "; SPIR-V %u.%u\n", version >> 16, version >> 8 & 0xff);
    for (; at < module->count && size; at += size) {
        size = module->words[at] >> 16;
        size = at + size <= module->count ? size : 0;
        if (size) {
            note_type(kinds, module->words + at, bound);
            reader r = {module->words, at + 1, at + size, out, kinds};
            put_instruction(&r, module->words[at] & 0xffff, bound);
        }
    }
    vyre_free(kinds);
    return size && !out->failed;
}
