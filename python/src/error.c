#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Raises the exception that vyre._errors.make returns. */
static PyObject *raise_made(unsigned code, error_flavour flavour, const char *text, const char *fix,
                            PyObject *diagnostics) {
    /* A text that was cut may end inside a character. */
    PyObject *shown = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    PyObject *error = shown ? PyObject_CallFunction(python.make_error, "IiOsO", code,
                                                    flavour == ERROR_TYPE, shown, fix, diagnostics)
                            : NULL;
    Py_XDECREF(shown);
    if (error) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_DECREF(error);
    }
    return NULL;
}

PyObject *error_raise(vyre_status status) {
    raise_made(vyre_status_code_of(status), ERROR_VALUE, vyre_status_text(status),
               vyre_status_fix(status), Py_None);
    vyre_status_free(status);
    return NULL;
}

/* Renders the diagnostics as a str. */
static PyObject *render(const vyre_diagnostics *diagnostics, const char *name, const char *text,
                        size_t size, vyre_diagnostic_form form) {
    char *rendered;
    size_t rendered_size;
    vyre_status status =
        vyre_diagnostics_render(diagnostics, name, text, size, form, &rendered, &rendered_size);
    if (status) {
        return error_raise(status);
    }
    PyObject *result = PyUnicode_DecodeUTF8(rendered, (Py_ssize_t)rendered_size, "replace");
    vyre_string_free(rendered);
    return result;
}

PyObject *error_raise_diagnostics(vyre_status status, const vyre_diagnostics *diagnostics,
                                  const char *name, const char *text, size_t size) {
    /* There is no list if there was no memory for one. */
    if (!diagnostics || !vyre_diagnostics_errors(diagnostics)) {
        return error_raise(status);
    }
    PyObject *shown = render(diagnostics, name, text, size, VYRE_FORM_TEXT);
    PyObject *json = shown ? render(diagnostics, name, text, size, VYRE_FORM_JSON) : NULL;
    const char *words = json ? PyUnicode_AsUTF8AndSize(shown, NULL) : NULL;
    if (words) {
        raise_made(vyre_status_code_of(status), ERROR_VALUE, words, vyre_status_fix(status), json);
    }
    Py_XDECREF(json);
    Py_XDECREF(shown);
    vyre_status_free(status);
    return NULL;
}

int error_refuse(error_flavour flavour, const char *fix, const char *format, ...) {
    char message[1024], text[1536];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    snprintf(text, sizeof text, "%s. Fix: %s", message, fix);
    raise_made(VYRE_STATUS_INVALID_ARGUMENT, flavour, text, fix, Py_None);
    return -1;
}
