/* Elementary functions as the reference backend runs them. Expected values are the true ones,
 * computed to 200 bits and rounded; tools/prove-math proves the rest. */
#include <math.h>

#include "tests/unit/reference_check.h"

static const struct {
    const char *name;
    uint32_t pairs[4][2]; /* operand and result */
} single[] = {
    {"exp",
     {{0x3f800000, 0x402df854},
      {0xbf000000, 0x3f1b4598},
      {0x42b00000, 0x7ef882b7},
      {0xc2c80000, 0x0000001b}}},
    {"exp2",
     {{0x3f000000, 0x3fb504f3},
      {0xc0500000, 0x3dd744fd},
      {0x42ff0000, 0x7f3504f3},
      {0xc3150000, 0x00000001}}},
    {"log",
     {{0x40000000, 0x3f317218},
      {0x41200000, 0x40135d8e},
      {0x3a83126f, 0xc0dd0c55},
      {0x7f61b1e6, 0x42b13196}}},
    {"log2",
     {{0x40400000, 0x3fcae00d},
      {0x3dcccccd, 0xc0549a78},
      {0x000116c2, 0xc304e08c},
      {0x447a0000, 0x411f73da}}},
    {"sin",
     {{0x3f800000, 0x3f576aa4},
      {0xc0400000, 0xbe1081c3},
      {0x49742400, 0xbeb33259},
      {0x3727c5ac, 0x3727c5ac}}},
    {"cos",
     {{0x3f800000, 0x3f0a5140},
      {0xc0400000, 0xbf7d7026},
      {0x49742400, 0x3f6fcefd},
      {0x7f61b1e6, 0xbef7f57c}}},
    {"tan",
     {{0x3f800000, 0x3fc75923},
      {0xbfc00000, 0xc1619f6b},
      {0x49742400, 0xbebf4bb4},
      {0x3727c5ac, 0x3727c5ac}}},
    {"asin",
     {{0x3f000000, 0x3f060a92},
      {0xbf800000, 0xbfc90fdb},
      {0x3f7fbe77, 0x3fc35650},
      {0x38d1b717, 0x38d1b717}}},
    {"acos",
     {{0x3f000000, 0x3f860a92},
      {0xbf800000, 0x40490fdb},
      {0x3f7fbe77, 0x3d37315a},
      {0x38d1b717, 0x3fc90c94}}},
    {"atan",
     {{0x3f800000, 0x3f490fdb},
      {0xc1200000, 0xbfbc4de9},
      {0x501502f9, 0x3fc90fdb},
      {0x38d1b717, 0x38d1b717}}},
    {"sinh",
     {{0x3f800000, 0x3f966cfe},
      {0xc0a00000, 0xc294680b},
      {0x42b00000, 0x7e7882b7},
      {0x38d1b717, 0x38d1b717}}},
    {"cosh",
     {{0x3f800000, 0x3fc583ab},
      {0xc0a00000, 0x42946b7e},
      {0x42b00000, 0x7e7882b7},
      {0x38d1b717, 0x3f800000}}},
    {"tanh",
     {{0x3f800000, 0x3f42f7d6},
      {0xc0a00000, 0xbf7ffa0d},
      {0x3dcccccd, 0x3dcc1ebc},
      {0x38d1b717, 0x38d1b717}}},
    {"erf",
     {{0x3f800000, 0x3f57bb3d},
      {0xbf000000, 0xbf053f7b},
      {0x40400000, 0x3f7ffe8d},
      {0x38d1b717, 0x38eca365}}},
    {"cbrt",
     {{0x40000000, 0x3fa14518},
      {0xc1200000, 0xc009e242},
      {0x000116c2, 0x295109c8},
      {0x7f61b1e6, 0x54c2d4a4}}},
};

static void functions_of_f32_are_correctly_rounded(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
        char text[200];
        snprintf(
            text, sizeof text,
            "program p(x: buffer<f32>, y: out buffer<f32>[len(x)]) over x { y[gid] = %s(x[gid]); "
            "}",
            single[i].name);
        uint32_t x[4], y[4];
        for (size_t k = 0; k < 4; k++) {
            x[k] = single[i].pairs[k][0];
            y[k] = single[i].pairs[k][1];
        }
        check_run(text, LIST(BYTES(x)), LIST(BYTES(y)));
    }
}

/* test_half.c has all inputs. */
static const struct {
    const char *type, *name;
    uint16_t pairs[2][2];
} half[] = {
    {"f16", "exp", {{0x3c00, 0x4170}, {0xb800, 0x38da}}},
    {"f16", "log2", {{0x4200, 0x3e57}, {0x2e66, 0xc2a5}}},
    {"f16", "sin", {{0x3c00, 0x3abb}, {0xc200, 0xb084}}},
    {"f16", "tanh", {{0x3c00, 0x3a18}, {0x2e66, 0x2e61}}},
    {"f16", "cbrt", {{0x4000, 0x3d0a}, {0xc900, 0xc04f}}},
    {"f16", "atan", {{0x3c00, 0x3a48}, {0xc900, 0xbde2}}},
    {"bf16", "exp", {{0x3f80, 0x402e}, {0xbf00, 0x3f1b}}},
    {"bf16", "log2", {{0x4040, 0x3fcb}, {0x3dcd, 0xc055}}},
    {"bf16", "sin", {{0x3f80, 0x3f57}, {0xc040, 0xbe11}}},
    {"bf16", "tanh", {{0x3f80, 0x3f43}, {0x3dcd, 0x3dcc}}},
    {"bf16", "cbrt", {{0x4000, 0x3fa1}, {0xc120, 0xc00a}}},
    {"bf16", "atan", {{0x3f80, 0x3f49}, {0xc120, 0xbfbc}}},
};

static void functions_of_narrow_types_are_correctly_rounded(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof half / sizeof *half; i++) {
        char text[200];
        snprintf(
            text, sizeof text,
            "program p(x: buffer<%s>, y: out buffer<%s>[len(x)]) over x { y[gid] = %s(x[gid]); "
            "}",
            half[i].type, half[i].type, half[i].name);
        uint16_t x[2] = {half[i].pairs[0][0], half[i].pairs[1][0]};
        uint16_t y[2] = {half[i].pairs[0][1], half[i].pairs[1][1]};
        check_run(text, LIST(BYTES(x)), LIST(BYTES(y)));
    }
}

static const struct {
    const char *name;
    uint32_t x, y, result;
} of_two[] = {
    {"pow", 0x40000000, 0x41200000, 0x44800000},   {"pow", 0x41200000, 0xc0400000, 0x3a83126f},
    {"pow", 0x3fc00000, 0x41a40000, 0x457e8975},   {"atan2", 0x3f800000, 0x3f800000, 0x3f490fdb},
    {"atan2", 0xc0000000, 0xc0400000, 0xc0236e05}, {"hypot", 0x40400000, 0x40800000, 0x40a00000},
    {"hypot", 0x7149f2ca, 0x7149f2ca, 0x718ecc90},
};

static void functions_of_two_arguments_are_off_by_one_at_most(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof of_two / sizeof *of_two; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "program p(a: f32, b: f32, y: out buffer<u32>[1]) over 1 {\n"
                 "    y[0] = bitcast<u32>(%s(a, b));\n"
                 "}\n",
                 of_two[i].name);
        uint32_t found;
        check_output(text, LIST({&of_two[i].x, 4}, {&of_two[i].y, 4}), &found, 4);
        uint32_t off =
            found > of_two[i].result ? found - of_two[i].result : of_two[i].result - found;
        if (off > 1) {
            fail_msg("%s: %08x, expected %08x", of_two[i].name, found, of_two[i].result);
        }
    }
}

static const struct {
    const char *name;
    uint64_t pairs[3][2]; /* operand and result */
} wide[] = {
    {"exp",
     {{0x3ff0000000000000, 0x4005bf0a8b145769},
      {0xbfe0000000000000, 0x3fe368b2fc6f960a},
      {0x400e000000000000, 0x404542b2d0a266e7}}},
    {"exp2",
     {{0x3ff0000000000000, 0x4000000000000000},
      {0xbfe0000000000000, 0x3fe6a09e667f3bcd},
      {0x400e000000000000, 0x402ae89f995ad3ad}}},
    {"exp10",
     {{0x3ff0000000000000, 0x4024000000000000},
      {0xbfe0000000000000, 0x3fd43d136248490f},
      {0x400e000000000000, 0x40b5f769cae07281}}},
    {"log",
     {{0x4000000000000000, 0x3fe62e42fefa39ef},
      {0x01a56e1fc2f8f359, 0xc085963447f87fb5},
      {0x3feff7ced916872b, 0xbf5064670d979b73}}},
    {"log2",
     {{0x4008000000000000, 0x3ff95c01a39fbd68},
      {0x01a56e1fc2f8f359, 0xc08f24a09f1a8b89},
      {0x3feff7ced916872b, 0xbf57a6210ffb7151}}},
    {"log10",
     {{0x4000000000000000, 0x3fd34413509f79ff},
      {0x7e37e43c8800759c, 0x4072c00000000000},
      {0x3feff7ced916872b, 0xbf3c79e5dbf022b6}}},
    {"sin",
     {{0x3ff0000000000000, 0x3feaed548f090cee},
      {0x412e848000000000, 0xbfd6664b2568d867},
      {0x7e37e43c8800759c, 0xbfea2c16b010e385}}},
    {"cos",
     {{0x3ff0000000000000, 0x3fe14a280fb5068c},
      {0x412e848000000000, 0x3fedf9df9906d32c},
      {0x7e37e43c8800759c, 0xbfe2699022adc4c1}}},
    {"tan",
     {{0x3ff0000000000000, 0x3ff8eb245cbee3a6},
      {0x412e848000000000, 0xbfd7e9768ab734c0},
      {0x7e37e43c8800759c, 0x3ff6be411f37ac77}}},
    {"asin",
     {{0x3fe0000000000000, 0x3fe0c152382d7366},
      {0xbfee000000000000, 0xbff3722d2feb24c8},
      {0x3ee4f8b588e368f1, 0x3ee4f8b588e4e940}}},
    {"acos",
     {{0x3fe0000000000000, 0x3ff0c152382d7366},
      {0xbfee000000000000, 0x40064a144217a8f0},
      {0x3ee4f8b588e368f1, 0x3ff921f0d7e968a6}}},
    {"atan",
     {{0x3ff0000000000000, 0x3fe921fb54442d18},
      {0xbfe0000000000000, 0xbfddac670561bb4f},
      {0x400e000000000000, 0x3ff4f68dea672617}}},
    {"sinh",
     {{0x3ff0000000000000, 0x3ff2cd9fc44eb982},
      {0xbfe0000000000000, 0xbfe0acd00fe63b97},
      {0x400e000000000000, 0x40353fb02f7bbd05}}},
    {"cosh",
     {{0x3ff0000000000000, 0x3ff8b07551d9f550},
      {0xbfe0000000000000, 0x3ff20ac1862ae8d0},
      {0x400e000000000000, 0x403545b571c910c9}}},
    {"tanh",
     {{0x3ff0000000000000, 0x3fe85efab514f394},
      {0xbfe0000000000000, 0xbfdd9353d7568af3},
      {0x400e000000000000, 0x3feff6f17a754772}}},
    {"erf",
     {{0x3ff0000000000000, 0x3feaf767a741088b},
      {0xbfe0000000000000, 0xbfe0a7ef5c18edd2},
      {0x400e000000000000, 0x3fefffffc2f171e3}}},
    {"cbrt",
     {{0x4000000000000000, 0x3ff428a2f98d728b},
      {0xc024000000000000, 0xc0013c484138704f},
      {0x0000000000000001, 0x2990000000000000}}},
};

static void functions_of_f64_are_the_nearest(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "program p(x: buffer<f64>, y: out buffer<f64>[3]) over x { y[gid] = %s(x[gid]); }",
                 wide[i].name);
        uint64_t x[3], y[3];
        for (size_t k = 0; k < 3; k++) {
            x[k] = wide[i].pairs[k][0];
            y[k] = wide[i].pairs[k][1];
        }
        check_run(text, LIST(BYTES(x)), LIST(BYTES(y)));
    }
    const double x[3] = {1.5, 1, 1}, y[3] = {20.5, 2, 2};
    const uint64_t result[3] = {0x40afd12ea818bbf5, 0x3fddac670561bb4f, 0x4001e3779b97f4a8};
    check_run("program p(x: buffer<f64>, y: buffer<f64>, r: out buffer<f64>[3]) over 1 {\n"
              "    r[0] = pow(x[0], y[0]);\n"
              "    r[1] = atan2(x[1], y[1]);\n"
              "    r[2] = hypot(x[2], y[2]);\n"
              "}\n",
              LIST(BYTES(x), BYTES(y)), LIST(BYTES(result)));
}

/* Random bits have exponents far apart: fmod takes many steps, and C's is exact, too. */
static void fmod_is_exact(void **state) {
    (void)state;
    enum { COUNT = 48 };
    static const double special[8] = {0, -0.0, 1, -7.5, 0x1p-1074, 0x1p1023, INFINITY, NAN};
    double x[COUNT], y[COUNT], r[COUNT];
    float x32[COUNT], y32[COUNT], r32[COUNT];
    uint64_t random = 1;
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < 2; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            memcpy(k ? &y[i] : &x[i], &random, sizeof random);
        }
        x[i] = i < 8 ? special[i] : x[i];
        y[i] = i < 16 ? special[(3 * i + i / 8) % 8] : y[i];
        x32[i] = (float)ldexp(frexp(x[i], &(int){0}), (int)(random >> 33) % 250 - 125);
        y32[i] = (float)ldexp(frexp(y[i], &(int){0}), (int)(random >> 43) % 250 - 140);
        r[i] = fmod(x[i], y[i]);
        r32[i] = fmodf(x32[i], y32[i]);
        r[i] = isnan(r[i]) ? (double)NAN : r[i]; /* the canonical one */
        r32[i] = isnan(r32[i]) ? NAN : r32[i];
    }
    check_run("program p(x: buffer<f64>, y: buffer<f64>, r: out buffer<f64>[len(x)]) over x {\n"
              "    r[gid] = fmod(x[gid], y[gid]);\n"
              "}\n",
              LIST(BYTES(x), BYTES(y)), LIST(BYTES(r)));
    check_run("program p(x: buffer<f32>, y: buffer<f32>, r: out buffer<f32>[len(x)]) over x {\n"
              "    r[gid] = fmod(x[gid], y[gid]);\n"
              "}\n",
              LIST(BYTES(x32), BYTES(y32)), LIST(BYTES(r32)));
    const float narrow[4] = {65504, -7.75f, 1, 0.4375f}, by[4] = {3, 2.5f, 0x1p-24f, 0.0625f};
    float rest[4];
    for (size_t i = 0; i < 4; i++) {
        rest[i] = fmodf(narrow[i], by[i]);
    }
    check_run("program p(x: buffer<f32>, y: buffer<f32>, r: out buffer<f32>[4]) over x {\n"
              "    r[gid] = f32(fmod(f16(x[gid]), f16(y[gid])));\n"
              "}\n",
              LIST(BYTES(narrow), BYTES(by)), LIST(BYTES(rest)));
}

/* Used in divergent flow, several of them in one expression, beside other values. */
static void functions_work_wherever_they_stand(void **state) {
    (void)state;
    uint32_t y[8];
    for (uint32_t i = 0; i < 8; i++) {
        /* exp(log(1)) and cos(0) are 1, exactly; sqrt(4) is 2 */
        y[i] = i % 2 ? 1 + 2 * i : 3;
    }
    check_run("program p(y: out buffer<u32>[8]) over 8 {\n"
              "    var r = 0u;\n"
              "    if gid % 2 == 1 {\n"
              "        for k in 0..gid { r += u32(exp(log(1.0f))) + u32(cos(0.0f)); }\n"
              "        r += u32(erf(10.0f));\n"
              "    } else {\n"
              "        r = u32(sqrt(4.0f)) + u32(exp2(f32(gid) - f32(gid)));\n"
              "    }\n"
              "    y[gid] = r;\n"
              "}\n",
              NOTHING, LIST(BYTES(y)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_f32_are_correctly_rounded),
        cmocka_unit_test(functions_of_narrow_types_are_correctly_rounded),
        cmocka_unit_test(functions_of_two_arguments_are_off_by_one_at_most),
        cmocka_unit_test(functions_of_f64_are_the_nearest),
        cmocka_unit_test(fmod_is_exact),
        cmocka_unit_test(functions_work_wherever_they_stand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
