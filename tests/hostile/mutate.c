#define _GNU_SOURCE /* scandir, alphasort */

#include "tests/hostile/mutate.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/random.h"

static uint64_t drawn;

void hostile_mutate_start(uint64_t random) {
    drawn = random;
}

static size_t below(size_t count) {
    return count ? (size_t)vyre_random_below(&drawn, count) : 0;
}

static void *room(size_t size) {
    void *memory = malloc(size ? size : 1);
    if (!memory) {
        perror("hostile");
        exit(1);
    }
    return memory;
}

static void add_seed(hostile_seeds *seeds, const char *data, size_t size) {
    seeds->items = realloc(seeds->items, (seeds->count + 1) * sizeof *seeds->items);
    uint8_t *copy = room(size);
    if (!seeds->items) {
        exit(1);
    }
    memcpy(copy, data, size);
    seeds->items[seeds->count++] = (hostile_seed){copy, size};
}

static vyre_strbuf read_file(const char *path) {
    vyre_strbuf text = {0};
    vyre_status status = vyre_file_read(path, 1 << 24, &text);
    if (status) {
        fprintf(stderr, "%s\n", vyre_status_text(status));
        exit(1);
    }
    return text;
}

hostile_seeds hostile_seeds_read(const char *folder) {
    hostile_seeds seeds = {0};
    struct dirent **names;
    int count = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (*names[i]->d_name != '.') {
            vyre_strbuf text = read_file(path);
            add_seed(&seeds, text.data ? text.data : "", text.size);
            vyre_strbuf_free(&text);
        }
        free(names[i]);
    }
    if (count <= 0 || !seeds.count) {
        fprintf(stderr, "%s has no seeds\n", folder);
        exit(1);
    }
    free(names);
    return seeds;
}

hostile_seeds hostile_words_read(const char *path) {
    hostile_seeds words = {0};
    vyre_strbuf text = read_file(path);
    for (char *line = strtok(text.data, "\n"); line; line = strtok(NULL, "\n")) {
        char *start = strchr(line, '"'), *end = strrchr(line, '"');
        if (*line != '#' && start && end > start + 1) {
            add_seed(&words, start + 1, (size_t)(end - start - 1));
        }
    }
    vyre_strbuf_free(&text);
    return words;
}

/* Puts `count` bytes in at `at`, as far as there is room. */
static size_t insert(uint8_t *data, size_t size, size_t most, size_t at, const uint8_t *bytes,
                     size_t count) {
    count = count < most - size ? count : most - size;
    memmove(data + at + count, data + at, size - at);
    memcpy(data + at, bytes, count);
    return size + count;
}

static size_t cut(uint8_t *data, size_t size, size_t at, size_t count) {
    count = count < size - at ? count : size - at;
    memmove(data + at, data + at + count, size - at - count);
    return size - count;
}

static size_t change_once(uint8_t *data, size_t size, size_t most) {
    static const uint8_t extremes[] = {0, 1, 0x7f, 0x80, 0xfe, 0xff, 0x1b, '\n'};
    uint8_t bytes[8];
    size_t at = below(size);
    switch (size ? below(6) : 5) {
    case 0: data[at] ^= (uint8_t)(1u << below(8)); return size;
    case 1: data[at] = (uint8_t)below(256); return size;
    case 2: data[at] = extremes[below(sizeof extremes)]; return size;
    case 3: return size > 1 && size != most ? cut(data, size, at, 1 + below(8)) : size;
    case 4: { /* copies a piece over another */
        size_t to = below(size), count = 1 + below(16);
        count = count < size - at ? count : size - at;
        count = count < size - to ? count : size - to;
        memmove(data + to, data + at, count);
        return size;
    }
    default:
        for (size_t i = 0; i < sizeof bytes; i++) {
            bytes[i] = (uint8_t)below(256);
        }
        return insert(data, size, most, at, bytes, 1 + below(sizeof bytes));
    }
}

size_t hostile_mutate(uint8_t *data, size_t size, size_t most) {
    for (size_t i = 1 + below(4); i > 0; i--) {
        size = change_once(data, size, most);
    }
    return size;
}

size_t hostile_mutate_text(uint8_t *data, size_t size, size_t most, const hostile_seeds *words,
                           const hostile_seeds *others) {
    for (size_t i = 1 + below(6); i > 0; i--) {
        size_t at = below(size + 1);
        const hostile_seed *word = &words->items[below(words->count)];
        const hostile_seed *other = &others->items[below(others->count)];
        switch (below(6)) {
        case 0: size = insert(data, size, most, at, word->data, word->size); break;
        case 1: { /* a word in place of what is there */
            size = cut(data, size, at, word->size);
            size = insert(data, size, most, at, word->data, word->size);
            break;
        }
        case 2: { /* a piece of another text */
            size_t from = below(other->size), count = below(other->size - from + 1);
            size = insert(data, size, most, at, other->data + from, count);
            break;
        }
        case 3: size = cut(data, size, at, 1 + below(40)); break;
        default: size = change_once(data, size, most); break;
        }
    }
    return size;
}
