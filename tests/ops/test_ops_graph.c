/* Graphs: random ones of several sizes, held against the plain sequential algorithms. */
#define _XOPEN_SOURCE 700 /* P_tmpdir, mkdtemp */
#include <math.h>

#include "tests/ops/ops_check.h"

typedef struct graph {
    uint32_t nodes, *row, *col;
    uint32_t *back_row, *back_col; /* the same edges the other way round */
} graph;

static const uint32_t sizes[][2] = {{0, 0}, {1, 0}, {2, 1}, {77, 100}, {1000, 600}, {5000, 40000}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Rows of the edges of a matrix of bits or a list, sorted; each edge once. */
static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint32_t rows_of(uint64_t *edges, size_t count, uint32_t nodes, uint32_t **out_row,
                        uint32_t **out_col) {
    uint32_t *row = test_calloc(nodes + 1, sizeof *row);
    uint32_t *col = test_malloc((count + 1) * sizeof *col);
    uint32_t used = 0;
    qsort(edges, count, sizeof *edges, by_number);
    for (size_t k = 0; k < count; k++) {
        if (!k || edges[k] != edges[k - 1]) {
            row[(edges[k] >> 32) + 1] = 1 + used;
            col[used++] = (uint32_t)edges[k];
        }
    }
    for (uint32_t n = 0; n < nodes; n++) {
        row[n + 1] = row[n + 1] > row[n] ? row[n + 1] : row[n];
    }
    *out_row = row;
    *out_col = col;
    return used;
}

static void make(graph *g, uint32_t nodes, uint32_t count, bool both_ways) {
    uint64_t state = nodes + 5;
    uint64_t *edges = test_malloc((2 * count + 1) * sizeof *edges);
    uint64_t *back = test_malloc((2 * count + 1) * sizeof *back);
    size_t used = 0;
    for (uint32_t k = 0; k < count; k++) {
        uint64_t a = ops_random(&state) % nodes, b = ops_random(&state) % nodes;
        b = (b * b / nodes + a / 2) % nodes; /* some nodes have many */
        if (a != b) {
            edges[used++] = a << 32 | b;
            if (both_ways) {
                edges[used++] = b << 32 | a;
            }
        }
    }
    for (size_t k = 0; k < used; k++) {
        back[k] = edges[k] << 32 | edges[k] >> 32;
    }
    g->nodes = nodes;
    rows_of(edges, used, nodes, &g->row, &g->col);
    rows_of(back, used, nodes, &g->back_row, &g->back_col);
    test_free(edges);
    test_free(back);
}

static void drop(graph *g) {
    test_free(g->row);
    test_free(g->col);
    test_free(g->back_row);
    test_free(g->back_col);
}

#define ROWS(g)                                                                                    \
    OPS_NAMED("row", (g).row, (g).nodes + 1), OPS_NAMED("col", (g).col, (g).row[(g).nodes])

static void search(void **unused) {
    (void)unused;
    for (size_t s = 0; s < SIZES; s++) {
        graph g;
        make(&g, sizes[s][0], sizes[s][1], false);
        uint32_t *level = test_malloc((g.nodes + 1) * sizeof *level);
        uint32_t *queue = test_malloc((g.nodes + 1) * sizeof *queue);
        uint32_t source = g.nodes / 3, end = 0;
        memset(level, 0xff, g.nodes * sizeof *level);
        if (g.nodes) {
            level[source] = 0;
            queue[end++] = source;
        }
        for (uint32_t at = 0; at < end; at++) {
            for (uint32_t e = g.row[queue[at]]; e < g.row[queue[at] + 1]; e++) {
                if (level[g.col[e]] == UINT32_MAX) {
                    level[g.col[e]] = level[queue[at]] + 1;
                    queue[end++] = g.col[e];
                }
            }
        }
        ops_expect("graph.bfs", OPS(ROWS(g), OPS_SCALAR("source", source)),
                   OPS(OPS_ARRAY(level, g.nodes)));
        test_free(level);
        test_free(queue);
        drop(&g);
    }
}

/* A source that is no node reaches nothing. */
static void search_from_nowhere(void **unused) {
    (void)unused;
    uint32_t row[] = {0, 1, 2}, col[] = {1, 0}, source = 2, level[] = {UINT32_MAX, UINT32_MAX};
    ops_expect("graph.bfs", OPS(OPS_ARRAY(row, 3), OPS_ARRAY(col, 2), OPS_SCALAR("source", source)),
               OPS(OPS_ARRAY(level, 2)));
}

static uint32_t root(uint32_t *parent, uint32_t node) {
    while (parent[node] != node) {
        node = parent[node];
    }
    return node;
}

static void expect_components(const graph *g) {
    uint32_t *label = test_malloc((g->nodes + 1) * sizeof *label);
    for (uint32_t n = 0; n < g->nodes; n++) {
        label[n] = n;
    }
    for (uint32_t n = 0; n < g->nodes; n++) {
        for (uint32_t e = g->row[n]; e < g->row[n + 1]; e++) {
            uint32_t a = root(label, n), b = root(label, g->col[e]);
            label[a > b ? a : b] = a > b ? b : a;
        }
    }
    for (uint32_t n = 0; n < g->nodes; n++) {
        label[n] = root(label, n);
    }
    ops_expect("graph.components", OPS(ROWS(*g)), OPS(OPS_ARRAY(label, g->nodes)));
    test_free(label);
}

static void components(void **unused) {
    (void)unused;
    for (size_t s = 0; s < SIZES; s++) {
        graph g;
        make(&g, sizes[s][0], sizes[s][1], false);
        expect_components(&g);
        drop(&g);
    }
    /* A path whose nodes are numbered against its direction: the longest way for a label. */
    enum { LONG = 3000 };
    static uint32_t row[LONG + 1], col[LONG];
    for (uint32_t n = 0; n < LONG; n++) {
        row[n + 1] = n + 1;
        col[n] = n ? n - 1 : LONG - 1;
    }
    expect_components(&(graph){.nodes = LONG, .row = row, .col = col});
}

static void pagerank(void **unused) {
    (void)unused;
    for (size_t s = 0; s < SIZES; s++) {
        graph g;
        make(&g, sizes[s][0], sizes[s][1], false);
        float damping = 0.85f, *rank = test_malloc((g.nodes + 1) * sizeof *rank);
        float *next = test_malloc((g.nodes + 1) * sizeof *next);
        uint32_t *degree = test_malloc((g.nodes + 1) * sizeof *degree);
        for (uint32_t n = 0; n < g.nodes; n++) {
            rank[n] = 1.0f / (float)(n + 2);
            degree[n] = g.row[n + 1] - g.row[n];
        }
        for (uint32_t n = 0; n < g.nodes; n++) {
            float sum = 0;
            for (uint32_t e = g.back_row[n]; e < g.back_row[n + 1]; e++) {
                uint32_t from = g.back_col[e];
                sum += rank[from] / (float)(degree[from] ? degree[from] : 1);
            }
            next[n] = fmaf(damping, sum, (1 - damping) / (float)g.nodes);
        }
        ops_expect("graph.pagerank_step",
                   OPS(OPS_NAMED("row", g.back_row, g.nodes + 1),
                       OPS_NAMED("col", g.back_col, g.back_row[g.nodes]),
                       OPS_ARRAY(degree, g.nodes), OPS_ARRAY(rank, g.nodes),
                       OPS_SCALAR("damping", damping)),
                   OPS(OPS_ARRAY(next, g.nodes)));
        test_free(rank);
        test_free(next);
        test_free(degree);
        drop(&g);
    }
}

static bool is_edge(const graph *g, uint32_t from, uint32_t to) {
    for (uint32_t e = g->row[from]; e < g->row[from + 1]; e++) {
        if (g->col[e] == to) {
            return true;
        }
    }
    return false;
}

static void triangles(void **unused) {
    (void)unused;
    for (size_t s = 0; s < SIZES; s++) {
        graph g;
        make(&g, sizes[s][0], sizes[s][1], true);
        uint64_t count = 0;
        for (uint32_t n = 0; n < g.nodes; n++) {
            for (uint32_t a = g.row[n]; a < g.row[n + 1]; a++) {
                for (uint32_t b = a + 1; b < g.row[n + 1]; b++) {
                    count += g.col[a] > n && is_edge(&g, g.col[a], g.col[b]);
                }
            }
        }
        ops_expect("graph.triangles", OPS(ROWS(g)), OPS(OPS_SCALAR("count", count)));
        drop(&g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search),     cmocka_unit_test(search_from_nowhere),
        cmocka_unit_test(components), cmocka_unit_test(pagerank),
        cmocka_unit_test(triangles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
