#include "values/words.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

enum { BYTES = 256 };

/* The tree of all words, which becomes the automaton: first a node's own edges, then for every byte
 * where the longest end of what was read, that still begins a word, goes on. */
typedef struct node {
    uint32_t next[BYTES]; /* 0: none, while it is a tree; the root has no way back to it then */
    uint32_t suffix;      /* the node of that end */
    uint32_t number;      /* in the table */
    bool is_end;
} node;

typedef struct tree {
    node *nodes;
    uint32_t *order; /* from the root on, by depth */
    uint32_t count;
} tree;

static void add_word(tree *t, const char *word, size_t size) {
    uint32_t at = 0;
    for (size_t i = 0; i < size; i++) {
        uint32_t *next = &t->nodes[at].next[(unsigned char)word[i]];
        *next = *next ? *next : t->count++;
        at = *next;
    }
    t->nodes[at].is_end = true;
}

/* Level by level, so that the shorter ends are complete before they are asked. */
static void complete(tree *t) {
    uint32_t known = 1;
    for (uint32_t i = 0; i < known; i++) {
        node *here = &t->nodes[t->order[i]];
        const node *suffix = &t->nodes[here->suffix];
        here->is_end |= suffix->is_end;
        for (uint32_t byte = 0; byte < BYTES; byte++) {
            uint32_t beyond = i ? suffix->next[byte] : 0;
            if (here->next[byte]) {
                t->nodes[here->next[byte]].suffix = beyond;
                t->order[known++] = here->next[byte];
            } else {
                here->next[byte] = beyond;
            }
        }
    }
}

/* States at which no word ends come first. */
static uint32_t number_states(tree *t) {
    uint32_t number = 0, accept = 0;
    for (int is_end = 0; is_end < 2; is_end++) {
        accept = number;
        for (uint32_t i = 0; i < t->count; i++) {
            if (t->nodes[i].is_end == is_end) {
                t->nodes[i].number = number++;
            }
        }
    }
    return accept;
}

static void write_table(const tree *t, vyre_type type, vyre_strbuf *out) {
    size_t first = out->size, width = vyre_type_bytes(type);
    size_t states = type == VYRE_TYPE_U8 ? BYTES : t->count;
    vyre_strbuf_repeat(out, 0, states * BYTES * width);
    for (uint32_t i = 0; i < t->count && !out->failed; i++) {
        for (uint32_t byte = 0; byte < BYTES; byte++) {
            uint32_t next = t->nodes[t->nodes[i].next[byte]].number;
            char *to = out->data + first + (t->nodes[i].number * (size_t)BYTES + byte) * width;
            to[0] = (char)next;
            if (width == 2) {
                to[1] = (char)(next >> 8);
            }
        }
    }
}

/* How many letters all words have, and the longest; 0 where there is an empty one. */
static size_t count_letters(const char *words, size_t *longest) {
    size_t all = 0;
    for (const char *at = words;; at++) {
        size_t size = strcspn(at, ",");
        if (!size) {
            return 0;
        }
        all += size;
        *longest = size > *longest ? size : *longest;
        at += size;
        if (!*at) {
            return all;
        }
    }
}

vyre_status values_words_make(const char *argument, vyre_type type, const char *words,
                              vyre_strbuf *out_table, values_automaton *out_automaton) {
    uint32_t states = type == VYRE_TYPE_U8 ? 256 : 65536;
    size_t longest = 0, letters = count_letters(words, &longest);
    if (type != VYRE_TYPE_U8 && type != VYRE_TYPE_U16) {
        return vyre_status_make(
            VYRE_STATUS_INVALID_ARGUMENT, "use it for the table of a match.dfa_ operation",
            "`%s`: words: makes an automaton of u8 or u16, and the elements are %s", argument,
            vyre_type_name(type));
    }
    if (!letters) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "write words separated by single commas, as in words:error,warning",
                                "`%s`: there is an empty word in `words:%s`", argument, words);
    }
    vyre_status status = VYRE_OK;
    /* A state a letter, and the first one; words that begin alike share theirs. One word more than
     * there is room for still fits, and is then one too many. */
    size_t most = letters < states + longest ? letters + 1 : states + longest + 1;
    tree t = {.count = 1};
    t.nodes = vyre_alloc_zeroed(most, sizeof *t.nodes);
    t.order = vyre_alloc_zeroed(most, sizeof *t.order);
    if (!t.nodes || !t.order) {
        status = vyre_no_memory("for the automaton of `%s`", argument);
        goto done;
    }
    for (const char *at = words; t.count <= states;) {
        size_t size = strcspn(at, ",");
        add_word(&t, at, size);
        if (!at[size]) {
            break;
        }
        at += size + 1;
    }
    if (t.count > states) {
        status = vyre_status_make(
            VYRE_STATUS_LIMIT,
            type == VYRE_TYPE_U8 ? "use fewer words, or the operation's u16 form"
                                 : "use fewer words",
            "`%s`: an automaton for these words has more than %u states", argument, states);
        goto done;
    }
    complete(&t);
    out_automaton->accept = number_states(&t);
    out_automaton->overlap = (uint32_t)longest - 1;
    write_table(&t, type, out_table);
done:
    vyre_free(t.nodes);
    vyre_free(t.order);
    return status;
}
