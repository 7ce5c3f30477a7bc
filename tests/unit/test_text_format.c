#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/vyre.h>

#include "tests/unit/failing_allocator.h"

static char *format(const char *text) {
    char *out;
    size_t size;
    vyre_status status = vyre_text_format("test", text, strlen(text), NULL, &out, &size);
    if (status) {
        fail_msg("%s: %s", text, vyre_status_text(status));
    }
    assert_int_equal(strlen(out), size);
    return out;
}

static void check(const char *text, const char *expected) {
    char *once = format(text);
    assert_string_equal(once, expected);
    char *twice = format(once);
    assert_string_equal(twice, expected);
    vyre_string_free(twice);
    vyre_string_free(once);
}

static void spaces_are_canonical(void **state) {
    (void)state;
    check("", "");
    check("const   N=16 ;", "const N = 16;\n");
    check("const N:u32=(-1+ - 2)*~3;", "const N: u32 = (-1 + -2) * ~3;\n");
    check("fn f( a:f32 ,b : inout buffer < f32 > )->(f32,u32){ return - a*b[ 0 ],3 ; }",
          "fn f(a: f32, b: inout buffer<f32>) -> (f32, u32) { return -a * b[0], 3; }\n");
    check("fn f(){ for i in 0 .. n step 2{ a [ i ]+=bitcast < u32 > ( x . y ); } }",
          "fn f() { for i in 0..n step 2 { a[i] += bitcast<u32>(x.y); } }\n");
    check("fn f(){ for i in n..0 step-1{ step-=step-1; } }",
          "fn f() { for i in n..0 step -1 { step -= step - 1; } }\n");
    check("fn f(){if(a<b)&&!(c>d){e=bits<f32>(3);}}",
          "fn f() { if (a < b) && !(c > d) { e = bits<f32>(3); } }\n");
    check("program p(x:buffer<u8>[4])over(x,2)workgroup 8,8 subgroup 32{}",
          "program p(x: buffer<u8>[4]) over (x, 2) workgroup 8, 8 subgroup 32 {}\n");
    check("fn f(){let(a,b)=loop(c=1,d=2){break c,d;};}",
          "fn f() { let (a, b) = loop (c = 1, d = 2) { break c, d; }; }\n");
}

static void statements_have_lines(void **state) {
    (void)state;
    check("fn f() {\na = 1; b = 2;\n\n\n\nc = 3;\n\n}",
          "fn f() {\n    a = 1;\n    b = 2;\n\n    c = 3;\n}\n");
    check("fn f() { a = 1;\nb = 2; }", "fn f() {\n    a = 1;\n    b = 2;\n}\n");
    check("fn f()\n{\n}\n\n\nfn g() {}", "fn f() {}\n\nfn g() {}\n");
    check("fn f() { if a { b = 1; }\nelse { c = 2; } }",
          "fn f() {\n    if a {\n        b = 1;\n    } else {\n        c = 2;\n    }\n}\n");
    check("fn f() {\nif a { b = 1; } else if c { d = 2; } else { e = 3; }\n}",
          "fn f() {\n    if a { b = 1; } else if c { d = 2; } else { e = 3; }\n}\n");
}

static void values_of_branches_stay_in_their_line(void **state) {
    (void)state;
    check("fn f() {\na = g(b, if c{1}else{2});\nd = if e { 1 } else { 2 }-3;\n}",
          "fn f() {\n    a = g(b, if c { 1 } else { 2 });\n"
          "    d = if e { 1 } else { 2 } - 3;\n}\n");
    check("fn f() {\na[if b { 1 } else { 2 }] = 1;\n(c, d) = (d, c);\n}",
          "fn f() {\n    a[if b { 1 } else { 2 }] = 1;\n    (c, d) = (d, c);\n}\n");
    check("fn f() {\na = g(if b {\n1 } else { 2 });\n}",
          "fn f() {\n    a = g(if b {\n        1\n    } else {\n        2\n    });\n}\n");
}

static void long_blocks_are_opened(void **state) {
    (void)state;
    check("fn f() { aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa = 1; "
          "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb = 2; }",
          "fn f() {\n    aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa = 1;\n"
          "    bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb = 2;\n}\n");
}

static void the_authors_line_ends_stay(void **state) {
    (void)state;
    check("program p(\n  a: u32,\n b: u32 ) over a {\n}",
          "program p(\n    a: u32,\n    b: u32) over a {}\n");
    check("fn f() {\na = min(\nb,\nc\n);\nd = e +\nf;\n}",
          "fn f() {\n    a = min(\n        b,\n        c\n    );\n    d = e +\n        f;\n}\n");
}

static void comments_stay(void **state) {
    (void)state;
    check("// head  \n\nconst A = 1;// tail\n", "// head\n\nconst A = 1;  // tail\n");
    check("fn f() { // open\n// own\na = 1; // one\nbb = 22; // two\n\n// last\n}",
          "fn f() {  // open\n    // own\n    a = 1;    // one\n    bb = 22;  // two\n\n"
          "    // last\n}\n");
    check("const A = /* in */ 1 /* behind */;", "const A = /* in */ 1 /* behind */;\n");
    check("/* a\n   b */ const A = 1;", "/* a\n   b */ const A = 1;\n");
    check("fn f() {\nif a { b = 1; } // c\nelse { d = 2; }\n}",
          "fn f() {\n    if a {\n        b = 1;\n    }  // c\n    else {\n        d = 2;\n    "
          "}\n}\n");
    check("fn f(\n  a: u32, // one\n  bb: f32 // two\n) {}",
          "fn f(\n    a: u32,  // one\n    bb: f32  // two\n) {}\n");
    check("// only", "// only\n");
}

static void wrong_syntax_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"fn f( {}", "const A = ;",      "const A = 1", "}",
                                        "/*",       "fn f() { a + ; }", "\xff"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *out;
        size_t size;
        vyre_status status =
            vyre_text_format("test", texts[i], strlen(texts[i]), NULL, &out, &size);
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_PROGRAM);
        assert_null(out);
        vyre_status_free(status);
    }
    check("fn f() { nobody = knows(3); }", "fn f() { nobody = knows(3); }\n");
}

static void any_allocation_may_fail(void **state) {
    (void)state;
    const char text[] = "const A = 1; // one\nfn f() {\nif a { b = 1; } else { c = min(1, 2); }\n}";
    vyre_string_free(format(text));
    for (size_t n = 1; failing_allocator_start(n); n++) {
        char *out;
        size_t size;
        vyre_status status = vyre_text_format("test", text, strlen(text), NULL, &out, &size);
        bool failed = failing_allocator_failed();
        vyre_status_code code = vyre_status_code_of(status);
        vyre_status_free(status);
        vyre_string_free(out);
        failing_allocator_stop();
        if (!failed) {
            assert_int_equal(code, VYRE_STATUS_OK);
            break;
        }
        assert_int_equal(code, VYRE_STATUS_OUT_OF_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spaces_are_canonical),
        cmocka_unit_test(statements_have_lines),
        cmocka_unit_test(values_of_branches_stay_in_their_line),
        cmocka_unit_test(long_blocks_are_opened),
        cmocka_unit_test(the_authors_line_ends_stay),
        cmocka_unit_test(comments_stay),
        cmocka_unit_test(wrong_syntax_is_refused),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
