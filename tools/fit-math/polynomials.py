#!/usr/bin/env python3
"""Writes src/pass/polynomials.vyre: the polynomials of the elementary functions on f64.

    python3 tools/fit-math/polynomials.py > src/pass/polynomials.vyre

Needs mpmath. Each polynomial interpolates its function at Chebyshev nodes, which is within a bit of
the best uniform approximation. The degree is the lowest whose error is below 2^-108. A coefficient
is a pair of f64 where rounding it to one would cost more than 2^-109; the script reports on stderr
the error of the polynomial with its rounded coefficients, evaluated exactly.
"""
import sys

import mpmath as m
from mpmath import mpf

m.mp.prec = 500
TARGET = -108
SINGLE = -56  # a term below 2^-56 needs one f64 only


def chebyshev(f, low, high, degree):
    """Coefficients of the interpolating Chebyshev series on [low, high]."""
    count = degree + 1
    angles = [m.pi * (k + mpf(1) / 2) / count for k in range(count)]
    values = [f((high - low) / 2 * m.cos(t) + (high + low) / 2) for t in angles]
    series = [2 * m.fsum(v * m.cos(j * t) for v, t in zip(values, angles)) / count
              for j in range(count)]
    series[0] /= 2
    return series


def monomials(series, low, high, centre):
    """The same polynomial in powers of (x - centre)."""
    scale, shift = 2 / (high - low), (2 * centre - high - low) / (high - low)
    older, old = [mpf(1)], [shift, scale]
    total = [mpf(0)] * len(series)

    def add(polynomial, factor):
        for i, c in enumerate(polynomial):
            total[i] += factor * c

    add(older, series[0])
    if len(series) > 1:
        add(old, series[1])
    for j in range(2, len(series)):
        new = [mpf(0)] + [2 * scale * c for c in old]
        for i, c in enumerate(old):
            new[i] += 2 * shift * c
        for i, c in enumerate(older):
            new[i] -= c
        older, old = old, new
        add(old, series[j])
    return total


def hexadecimal(value):
    mantissa, exponent = float(value).hex().split("p")
    digits = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{digits}p{exponent}" if value else "0"


def split(value, reach):
    """As a pair; without a low part that does not matter where the power is at most `reach`."""
    high = mpf(float(value))
    low = mpf(float(value - high))
    return high, low if abs(low) * reach > mpf(2) ** -120 else mpf(0)


class Piece:
    def __init__(self, f, low, high, centre=0, relative=True):
        self.f, self.low, self.high, self.centre = f, mpf(low), mpf(high), mpf(centre)
        points = [self.low + (self.high - self.low) * k / 40 for k in range(41)]
        least = min(abs(f(x)) for x in points) if relative else mpf(1)
        self.reach = max(abs(self.low - self.centre), abs(self.high - self.centre))
        degree = 70
        series = chebyshev(f, self.low, self.high, degree)
        while m.fsum(abs(c) for c in series[degree:]) < least * mpf(2) ** TARGET:
            degree -= 1
        degree += 1
        self.exact = monomials(chebyshev(f, self.low, self.high, degree), self.low, self.high,
                               self.centre)
        self.least = least
        self.pairs = sum(abs(c) * self.reach ** k > least * mpf(2) ** SINGLE
                         for k, c in enumerate(self.exact))

    def round(self, count, pairs):
        """Rounds the coefficients, padded with zeros."""
        exact = self.exact + [mpf(0)] * (count - len(self.exact))
        self.rounded = [split(c, self.reach ** k) if k < pairs else (mpf(float(c)), mpf(0))
                        for k, c in enumerate(exact)]

    def error(self):
        worst = mpf(0)
        for k in range(301):
            x = self.low + (self.high - self.low) * k / 300
            p = m.polyval([a + b for a, b in reversed(self.rounded)], x - self.centre)
            worst = max(worst, abs(p - self.f(x)))
        return float(m.log(worst / self.least, 2))

    def dominates(self, k):
        """Whether coefficient k is larger than the rest of the sum, over the whole range."""
        for j in range(-40, 41):
            x = self.centre + self.reach * j / 40
            if self.low <= x <= self.high:
                v = x - self.centre
                rest = v * m.polyval([a + b for a, b in reversed(self.rounded[k + 1:])], v)
                if abs(rest) > abs(self.rounded[k][0]):
                    return False
        return True


def write(name, comment, *pieces):
    count = max(len(p.exact) for p in pieces)
    pairs = max(p.pairs for p in pieces)
    for p in pieces:
        p.round(count, pairs)
    chosen_by = ["second", "third"][:len(pieces) - 1]

    def constant(k, part):
        values = [hexadecimal(p.rounded[k][part]) for p in pieces]
        text = values[0]
        for by, value in zip(chosen_by, values[1:]):
            text = f"select({by}, {value}, {text})"
        return text if len(set(values)) > 1 else values[0]

    print(f"// {comment}")
    choices = "".join(f"{by}: bool, " for by in chosen_by)
    print(f"fn {name}({choices}x: f64, x_low: f64) -> (f64, f64) {{")
    print(f"    var p: f64 = {constant(count - 1, 0)};")
    for k in range(count - 2, pairs - 1, -1):
        print(f"    p = fma(x, p, {constant(k, 0)});")
    rest = "p"
    for k in range(pairs - 1, -1, -1):
        step = "next" if all(p.dominates(k) for p in pieces) else "next_any"
        step = "first" if rest == "p" else step
        c = f"{constant(k, 0)}, {constant(k, 1)}"
        print(f"    let (h{k}, l{k}) = {step}(x, x_low, {rest}, {c});")
        rest = f"h{k}, l{k}"
    print(f"    return {rest};\n}}\n")
    print([(len(p.exact),p.pairs) for p in pieces], file=sys.stderr)
    errors = ", ".join(f"2^{p.error():.1f}" for p in pieces)
    print(f"{name}: degree {count - 1}, {pairs} pairs, error {errors}", file=sys.stderr)


def over_root(f):
    """f(sqrt(z)) / sqrt(z), an even function's power series."""
    def quotient(z):
        root = m.sqrt(z) if z else mpf(2) ** -400
        return f(root) / root
    return quotient


print("""// Written by tools/fit-math/polynomials.py; change that and run it again.
//
// Each function evaluates a polynomial at x + x_low as a sum of two f64. The coefficients of the
// powers that matter are pairs themselves.
""")
half_ln2 = m.log(2) / 2 * mpf("1.0005")
write("exp_polynomial", "exp(x) for |x| <= 0.3467.", Piece(m.exp, -half_ln2, half_ln2))
write("log_polynomial", "atanh(s) / s in s^2, for |s| <= 0.1716.",
      Piece(over_root(m.atanh), 0, mpf("0.02945")))
quarter = (m.pi / 4 * mpf("1.0005")) ** 2
write("turn_polynomial", "sin(r) / r or, the second, cos(r), in r^2, for |r| <= pi/4.",
      Piece(over_root(m.sin), 0, quarter), Piece(lambda z: m.cos(m.sqrt(z)), 0, quarter))
write("atan_polynomial", "atan(t) / t in t^2, for |t| <= 0.1.",
      Piece(over_root(m.atan), 0, mpf("0.01")))
write("hyperbolic_polynomial", "sinh(r) / r or, the second, cosh(r), in r^2, for |r| <= 0.3467.",
      Piece(over_root(m.sinh), 0, half_ln2 ** 2),
      Piece(lambda z: m.cosh(m.sqrt(z)), 0, half_ln2 ** 2))
write("erf_polynomial",
      "erf(x) / x in x^2 - 3.125 for x <= 2.5; the second: erf(x) in x - 3.3125 up to 4.125; the "
      "third: in x - 5.\n// 3 up to 5.9375.",
      Piece(over_root(m.erf), 0, mpf("6.25"), mpf("3.125"), False),
      Piece(m.erf, mpf("2.5"), mpf("4.125"), mpf("3.3125"), False),
      Piece(m.erf, mpf("4.125"), mpf("5.9375"), mpf("5.03125"), False))
