/* llvmlite in the place of libLLVM: where it is looked for, what it is asked, what becomes of its
 * errors. The library is a fake one, and the installed one where there is one. */
#include "tests/unit/cpu_check.h"

#include <sys/wait.h>
#include <unistd.h>

#include <vyre/registry.h>

#include "base/status.h"

static const char text[] =
    "define void @phase_0(ptr %f, i64 %first, i64 %end, ptr %s) nounwind { ret void }\n";

/* What LLVM makes of the text, in `out`, which the caller frees. */
static vyre_status compile(cpu_llvm_form form, vyre_strbuf *out) {
    vyre_strbuf ir = {0};
    vyre_strbuf_puts(&ir, text);
    vyre_status status = cpu_compiler_run(&ir, form, 0, out);
    vyre_strbuf_free(&ir);
    return status;
}

/* What is known of LLVM stays so in a process, so every case has one of its own. */
static void in_a_process(void (*run)(void)) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        run();
        _exit(0);
    }
    int end = 0;
    assert_int_equal(waitpid(child, &end, 0), child);
    assert_true(WIFEXITED(end));
    assert_int_equal(WEXITSTATUS(end), 0);
}

/* In a child, where cmocka's assertions have nowhere to jump to. */
static void require(bool holds, const char *what, const char *found) {
    if (!holds) {
        printf("%s: %s\n", what, found);
        fflush(stdout);
        _exit(1);
    }
}

static void require_text(const char *found, const char *part) {
    require(strstr(found, part), part, found);
}

static void require_failure(vyre_status status, vyre_status_code code, const char *part) {
    require_text(vyre_status_text(status), part);
    require(vyre_status_code_of(status) == code, "another code", vyre_status_text(status));
    vyre_status_free(status);
}

static void require_ok(vyre_status status) {
    require(!status, "fails", vyre_status_text(status));
}

static const char *version_in_use(void) {
    cpu_llvm_info info;
    require_ok(cpu_compiler_info(&info));
    return info.version;
}

static void use_fake(void) {
    setenv("VYRE_LLVM", FAKE_LLVMLITE_LIBRARY, 1);
}

/* From now on helpers find no libLLVM. */
static void hide_llvm(void) {
    setenv("LD_PRELOAD", HIDE_LLVM_LIBRARY, 1);
}

static void calls_in_order(void) {
    static const char expected[] = "opaque;parse;machine cpu +sse2 2 pic small 0 0;triple;layout;"
                                   "verify;no unrolling;inline;simplify;simplify;object;";
    vyre_strbuf out = {0};
    use_fake();
    require_text(version_in_use(), "LLVM 20.1.8 of llvmlite");
    require_ok(compile(CPU_LLVM_OBJECT, &out));
    require(out.size == sizeof expected - 1 && !memcmp(out.data, expected, out.size), expected,
            vyre_strbuf_string(&out));
    vyre_strbuf_free(&out);
    require_ok(compile(CPU_LLVM_IR, &out));
    require(!strcmp(vyre_strbuf_string(&out), "IR"), "no IR", vyre_strbuf_string(&out));
    vyre_strbuf_free(&out);
    require_text(cpu_compiler_describe(), " from " FAKE_LLVMLITE_LIBRARY);
}

static void vyre_llvm_may_name_llvmlite(void **state) {
    (void)state;
    in_a_process(calls_in_order);
}

static const struct {
    const char *how;
    vyre_status_code code;
    const char *says;
} ways[] = {
    {"parse", VYRE_STATUS_BACKEND,
     "LLVM 20.1.8 of llvmlite refuses the code generated for the "
     "program: line 1: it is fake"},
    {"verify", VYRE_STATUS_BACKEND, "it is not valid"},
    {"emit", VYRE_STATUS_BACKEND, "it has no instructions"},
    {"abort", VYRE_STATUS_UNSUPPORTED,
     "LLVM cannot compile the program: LLVM ERROR: cannot select"},
    {"exit", VYRE_STATUS_BACKEND, "refuses the code generated for the program: error: it does not"},
    {"stack", VYRE_STATUS_UNSUPPORTED, "too large for backend `cpu`: warning: stack frame size"},
    {"target", VYRE_STATUS_UNAVAILABLE, "lacks a target for this machine"},
    {"version", VYRE_STATUS_UNAVAILABLE, "lacks a supported version"},
};

static size_t way;

/* Twice, since a helper that has ended must not be the next one's. */
static void goes_wrong(void) {
    use_fake();
    setenv("FAKE_LLVMLITE", ways[way].how, 1);
    for (int i = 0; i < 2; i++) {
        vyre_strbuf out = {0};
        require_failure(compile(CPU_LLVM_OBJECT, &out), ways[way].code, ways[way].says);
        require(!out.data, "an error has a result", ways[way].how);
    }
}

static void errors_are_statuses(void **state) {
    (void)state;
    for (way = 0; way < sizeof ways / sizeof *ways; way++) {
        in_a_process(goes_wrong);
    }
}

/* Only the beginning of what a compile writes is read. */
static void forgets_what_was_written(void) {
    vyre_strbuf out = {0};
    use_fake();
    setenv("FAKE_LLVMLITE", "chatter", 1);
    require_ok(compile(CPU_LLVM_OBJECT, &out));
    vyre_strbuf_free(&out);
    require_failure(compile(CPU_LLVM_OBJECT, &out), VYRE_STATUS_UNSUPPORTED, "stack frame size");
}

static void warnings_are_of_one_compile(void **state) {
    (void)state;
    in_a_process(forgets_what_was_written);
}

static void is_too_old(void) {
    cpu_llvm_info info;
    setenv("VYRE_LLVM", OLD_LLVMLITE_LIBRARY, 1);
    require_failure(cpu_compiler_info(&info), VYRE_STATUS_UNAVAILABLE,
                    "lacks LLVMPY_CreatePassBuilder, as before llvmlite 0.44");
}

static void an_old_llvmlite_is_refused(void **state) {
    (void)state;
    in_a_process(is_too_old);
}

static void finds_it_by_variable(void) {
    hide_llvm();
    setenv("VYRE_LLVMLITE", FAKE_LLVMLITE_LIBRARY, 1);
    require_text(version_in_use(), "of llvmlite");
}

static void finds_it_once_it_is_told(void) {
    cpu_llvm_info info;
    hide_llvm();
    require_failure(cpu_compiler_info(&info), VYRE_STATUS_UNAVAILABLE,
                    "neither libLLVM 16 to 22 nor a path to llvmlite was found. Fix: install "
                    "libLLVM 16 to 22 (on Debian `apt install libllvm19`), or for Python `pip "
                    "install vyre[cpu]`");
    require_ok(vyre_llvmlite_set("/nonexistent/libllvmlite.so"));
    require_failure(cpu_compiler_info(&info), VYRE_STATUS_UNAVAILABLE,
                    "nor does llvmlite's `/nonexistent/libllvmlite.so` open");
    require_failure(vyre_llvmlite_set("libllvmlite.so"), VYRE_STATUS_INVALID_ARGUMENT,
                    "no absolute path");
    require_ok(vyre_llvmlite_set(FAKE_LLVMLITE_LIBRARY));
    require_text(version_in_use(), "of llvmlite");
}

static void prefers_the_variable(void) {
    hide_llvm();
    setenv("VYRE_LLVMLITE", FAKE_LLVMLITE_LIBRARY, 1);
    require_ok(vyre_llvmlite_set("/nonexistent/libllvmlite.so"));
    require_text(version_in_use(), "of llvmlite");
}

static void without_libllvm_llvmlite_is_used(void **state) {
    (void)state;
    in_a_process(finds_it_by_variable);
    in_a_process(finds_it_once_it_is_told);
    in_a_process(prefers_the_variable);
}

static void prefers_the_system(void) {
    cpu_llvm_info info;
    vyre_status status = cpu_compiler_info(&info);
    if (vyre_status_code_of(status) == VYRE_STATUS_UNAVAILABLE) {
        printf("not tried: %s\n", vyre_status_text(status));
        fflush(stdout);
        _exit(0);
    }
    require_ok(status);
    require(!strstr(info.version, "llvmlite"), "not libLLVM", info.version);
}

static void prefers_the_system_to_one_it_is_told(void) {
    require_ok(vyre_llvmlite_set(FAKE_LLVMLITE_LIBRARY));
    prefers_the_system();
}

static void with_libllvm_llvmlite_is_not_used(void **state) {
    (void)state;
    in_a_process(prefers_the_system_to_one_it_is_told);
}

/* In this process LLVM could end it. */
static void refuses_this_process(void) {
    cpu_llvm_info info;
    const cpu_llvm_search search = {.library = FAKE_LLVMLITE_LIBRARY};
    require_failure(cpu_llvm_open(&search, &info), VYRE_STATUS_UNAVAILABLE,
                    "was found, but it must run in a process of its own");
}

static void llvmlite_never_runs_in_our_process(void **state) {
    (void)state;
    in_a_process(refuses_this_process);
}

static const char find_package[] =
    "python3 -c 'import importlib.util as u; print(u.find_spec(\"llvmlite\")."
    "submodule_search_locations[0] + \"/binding/libllvmlite.so\")' 2>/dev/null";

/* The path of the llvmlite that Python has, if it has one. */
static const char *installed_path(void) {
    static char path[4096];
    const char *named = getenv("VYRE_TEST_LLVMLITE");
    snprintf(path, sizeof path, "%s", named ? named : "");
    FILE *python = named ? NULL : popen(find_package, "r"); /* NOLINT(cert-env33-c): a fixed text */
    if (python) {
        if (!fgets(path, sizeof path, python)) {
            path[0] = '\0';
        }
        path[strcspn(path, "\n")] = '\0';
        pclose(python);
    }
    return path;
}

static void makes_an_object(void) {
    vyre_strbuf out = {0};
    setenv("VYRE_LLVM", installed_path(), 1);
    printf("found: %s\n", version_in_use());
    require_ok(compile(CPU_LLVM_OBJECT, &out));
    require(out.size > 4 && !memcmp(out.data, "\177ELF", 4), "no object", "");
    vyre_strbuf_free(&out);
}

static void the_installed_llvmlite_compiles(void **state) {
    (void)state;
    if (!*installed_path()) {
        printf("skipped: python3 has no llvmlite, and VYRE_TEST_LLVMLITE names none\n");
        skip();
    }
    in_a_process(makes_an_object);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(vyre_llvm_may_name_llvmlite),
        cmocka_unit_test(errors_are_statuses),
        cmocka_unit_test(warnings_are_of_one_compile),
        cmocka_unit_test(an_old_llvmlite_is_refused),
        cmocka_unit_test(without_libllvm_llvmlite_is_used),
        cmocka_unit_test(with_libllvm_llvmlite_is_not_used),
        cmocka_unit_test(llvmlite_never_runs_in_our_process),
        cmocka_unit_test(the_installed_llvmlite_compiles),
    };
    setenv("VYRE_THREADS", "1", 1);
    setenv("VYRE_CACHE_LIMIT", "0", 1); /* nothing is known of before */
    unsetenv("VYRE_LLVM");
    unsetenv("VYRE_LLVMLITE");
    if (getenv("VYRE_TEST_EMULATED")) { /* the emulator starts no program out of memory */
        return CPU_SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
