"""Writes elementary.txt: arguments that are hard to round, and what MPFR (libmpfr.so.6) makes of them.

A line has a function, its arguments and its result, as shortest decimals. Of arguments that are drawn from a fixed seed
those stay whose results lie nearest to the middle between two doubles; a few are at the ends of the range.
"""
import ctypes
import math
import pathlib
import random

DRAWN, KEPT = 20_000, 20
mpfr = ctypes.CDLL("libmpfr.so.6")


class Float(ctypes.Structure):
    _fields_ = [("p", ctypes.c_long), ("sign", ctypes.c_int), ("exp", ctypes.c_long), ("d", ctypes.c_void_p)]


def float_of(precision):
    made = Float()
    mpfr.mpfr_init2(ctypes.byref(made), ctypes.c_long(precision))
    return ctypes.byref(made)


mpfr.mpfr_set_d.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_int]
mpfr.mpfr_get_d.restype = ctypes.c_double
mpfr.mpfr_set_emin(ctypes.c_long(-1073))  # the exponents of doubles, down to the least subnormal one
mpfr.mpfr_set_emax(ctypes.c_long(1024))
arguments, short, long = [float_of(53), float_of(53)], float_of(53), float_of(400)


def computed(target, name, values):
    given = arguments[: len(values)]
    for argument, value in zip(given, values):
        mpfr.mpfr_set_d(argument, value, 0)
    return getattr(mpfr, "mpfr_" + {"ln": "log"}.get(name, name))(target, *given, 0)


def result(name, values):
    mpfr.mpfr_subnormalize(short, computed(short, name, values), 0)
    return mpfr.mpfr_get_d(short, 0)


def hardness(name, values):
    """How many bits after the 54th are the opposite of it."""
    computed(long, name, values)
    digits, exponent = ctypes.create_string_buffer(500), ctypes.c_long()
    mpfr.mpfr_get_str(digits, ctypes.byref(exponent), 2, ctypes.c_size_t(400), long, 0)
    text = digits.value.decode().lstrip("-")
    rest = text[54:]
    exact = "1" not in rest or "0" not in rest
    return 0 if exact else len(rest) - len(rest.lstrip("01"[text[53] == "0"]))


chance = random.Random(1985)


def scaled(least, most):
    return chance.uniform(1, 2) * 2.0 ** chance.randint(least, most)


def signed(value):
    return chance.choice((-1, 1)) * value


def near_one():
    return 1 + chance.randint(-64, 64) * 2.0**-52


DRAWS = {
    "sin cos tan": [lambda: [signed(scaled(-20, 3))], lambda: [scaled(3, 1022)]],
    "asin acos": [lambda: [chance.uniform(-1, 1)], lambda: [signed(1 - scaled(-50, -2))]],
    "atan": [lambda: [signed(scaled(-20, 20))]],
    "ln log2 log10": [lambda: [scaled(-1022, 1022)], lambda: [scaled(-1, 0)], lambda: [float(chance.randint(2, 10**6))]],
    "exp": [lambda: [signed(scaled(-25, 8))]],
    "atan2": [lambda: [signed(scaled(-8, 8)), signed(scaled(-8, 8))], lambda: [scaled(-300, 300), scaled(-300, 300)]],
    "pow": [
        lambda: [scaled(-8, 8), signed(scaled(-8, 6))],
        lambda: [float(chance.randint(2, 1000)), float(chance.randint(-100, 100))],
        lambda: [near_one(), signed(2.0 ** -chance.randint(0, 4)) * near_one()],
    ],
}
LEAST, NORMAL, MOST = 5e-324, 2.0**-1022, math.nextafter(math.inf, 0)
SMALL = [[-LEAST], [LEAST * 3], [NORMAL], [1e-300], [-1e-20], [1e-8]]
ENDS = {
    "sin cos tan": [*SMALL, [MOST], [-1e22], [6381956970095103 * 2.0**797], [math.pi], [math.pi / 2], [2.0**1023]],
    "asin acos": [*SMALL, [-1.0], [math.nextafter(1, 0)], [-math.nextafter(1, 0)], [0.5], [-0.5]],
    "atan": [*SMALL, [-1.0], [MOST], [2.0**53]],
    "ln log2 log10": [[LEAST], [LEAST * 3], [NORMAL], [MOST], [math.nextafter(1, 2)], [math.nextafter(1, 0)], [3.0]],
    "exp": [*SMALL, [1.0], [709.782712893384], [709.7827128933841], [-745.1332191019411], [-745.1332191019412]]
    + [[-708.5], [-740.3], [1e300], [-1e300], [MOST]],
    "atan2": [[LEAST, 2.0], [3 * LEAST, 2.0], [-3 * LEAST, 2.0], [5 * LEAST, 2.0], [LEAST, 1.0], [LEAST, MOST]]
    + [[MOST, LEAST], [LEAST, -MOST], [-1.0, -1.0], [1.0, -1e300], [3 * NORMAL, 4.0]],
    "pow": [[10.0, 1e18], [0.5, 1074.0], [0.5, 1075.0], [0.75, 2590.0], [1.5, -1838.0], [3.0, 34.0], [2.0**53 - 1, 2.0]]
    + [[94906267.0, 2.0], [94906267.0**2, 1.5], [9.0, 16.5], [3 * 2.0**-215, 5.0], [5 * 2.0**-215, -5.0], [10.0, -323.0], [7 * 2.0**-215, 5.0]]
    + [[MOST, LEAST], [near_one(), MOST], [2.0, 0.5], [4.0, 511.75], [4.0, -537.5], [-3.0, 33.0], [-10.0, 308.0]],
}

lines = ["# by elementary.py"]
for names, draws in DRAWS.items():
    for name in names.split():
        drawn = [draw() for draw in draws for _ in range(DRAWN)]
        hard = sorted(drawn, key=lambda values: -hardness(name, values))
        unique = list(dict.fromkeys(map(tuple, hard[: 2 * KEPT])))[:KEPT]
        for values in [*ENDS[names], *unique]:
            lines.append(" ".join([name, *map(repr, values), repr(result(name, values))]))
pathlib.Path(__file__).with_name("elementary.txt").write_text("\n".join(lines) + "\n")
