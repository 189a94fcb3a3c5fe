"""Programs computed by hand: what the evaluator has to find."""
# SPDX-License-Identifier: MIT
import random
import unittest

import numpy as np

import generate
from devices import to_bytes
from execute import Ambiguous, Invalid, run
from inputs import draw, layouts, quantise
from printer import show, show_program
from scope import Builder
from specialise import plain
from sugar import sugared
from tree import Case, E, Extension, Kernel, Program, Range, Stmt, Tensor, binary, call, integer, name, number, replace, statements


def load(tensor, *indices):
    return E("load", tensor, tuple(name(i) if isinstance(i, str) else i for i in indices))


def tensor(text, type_, *dims, **traits):
    return Tensor(text, type_, tuple(name(d) if isinstance(d, str) else d for d in dims), **traits)


def store(target, value):
    return Stmt("store", value=value, target=target)


def op(tensors, kernels, params=(), scalars=()):
    return Program("f", tuple(params), tuple(tensors), tuple(scalars), tuple(kernels))


def loop(axis, extent, *body):
    return Stmt("for", range=Range(axis, name(extent), None, "B" + axis), body=tuple(body))


ROWS = Range("i", name("M"), None, "BM")
COLUMNS = Range("j", name("N"), None, "BN")
Y = tensor("y", "f32", "M", init=7.0)
X = tensor("x", "f32", "M", "N")


class Evaluator(unittest.TestCase):
    def rows(self, value, x, y_init=7.0, before=(), **arrays):
        """y[i] = value, over the rows of x."""
        x = np.array(x, float)
        p = op([X, Y] + [tensor(k, "f32", "M" if len(v) == x.shape[0] else "N") for k, v in arrays.items()],
               [Kernel("main", (ROWS,), (*before, store(load("y", "i"), value)))])
        arrays = {k: np.array(v, float) for k, v in arrays.items()}
        for block in (None, 1, 2):
            out = run(p, {"M": x.shape[0], "N": x.shape[1]}, {"x": x, **arrays}, block=block)
        return out["y"].data.tolist()

    def summed(self, value, kind="sum"):
        """Statements for v = kind of value over j."""
        return (Stmt("var", "v", E("zeros", "f32", axes=("i",))), loop("j", "N", Stmt("add", "v", E("reduce", kind, (value,), ("j",)))))

    def test_sum_of_where(self):
        value = E("where", args=(load("x", "i", "j"), binary(">", load("x", "i", "j"), integer(0))))
        self.assertEqual(self.rows(name("v"), [[1, -2, 3], [-1, -1, -1]], before=self.summed(value)), [4, 0])

    def test_a_mask_of_rows_stays(self):
        value = E("where", args=(load("x", "i", "j"), binary("<", name("i"), integer(1))))
        self.assertEqual(self.rows(name("v"), [[1, 2], [3, 4]], before=self.summed(value)), [3, 7])

    def test_a_conjunction_has_two_supports(self):
        both = binary("&&", binary("<", name("i"), integer(1)), binary("<", name("j"), integer(1)))
        value = E("where", args=(load("x", "i", "j"), both))
        self.assertEqual(self.rows(name("v"), [[1, 2], [3, 4]], before=self.summed(value)), [1, 7])

    def test_a_disjunction_has_one(self):
        some = binary("||", binary("<", name("i"), integer(1)), binary("<", name("j"), integer(1)))
        value = E("where", args=(load("x", "i", "j"), some))
        self.assertEqual(self.rows(name("v"), [[1, 2], [3, 4]], before=self.summed(value)), [3, 3])

    def test_negation_goes_inwards(self):
        none = binary("||", binary(">=", name("i"), integer(1)), binary(">=", name("j"), integer(1)))
        value = E("where", args=(load("x", "i", "j"), E("not", args=(none,))))
        self.assertEqual(self.rows(name("v"), [[1, 2], [3, 4]], before=self.summed(value)), [1, 7])
        both = binary("&&", binary(">=", name("i"), integer(1)), binary(">=", name("j"), integer(1)))
        value = E("where", args=(load("x", "i", "j"), E("not", args=(both,))))
        self.assertEqual(self.rows(name("v"), [[1, 2], [3, 4]], before=self.summed(value)), [3, 3])

    def test_shifted_load(self):
        value = E("load", "x", (name("i"), binary("+", name("j"), integer(1))))
        self.assertEqual(self.rows(name("v"), [[1, 2, 4], [8, 16, 32]], before=self.summed(value)), [6, 48])

    def test_shifted_row_is_absent(self):
        shifted = E("load", "x", (binary("-", name("i"), integer(1)), integer(0)))
        self.assertEqual(self.rows(shifted, [[1, 2], [3, 4]]), [7, 1])
        filled = E("else", args=(shifted, number(9)))
        self.assertEqual(self.rows(filled, [[1, 2], [3, 4]]), [9, 1])

    def test_number_takes_the_type_that_is_meant(self):
        shifted = E("load", "x", (binary("-", name("i"), integer(1)), integer(0)))
        filled = E("else", args=(E("cast", "bf16", (shifted,)), number(9)))
        self.assertEqual(self.rows(E("cast", "f32", (filled,)), [[1, 2], [3, 4]]), [9, 1])

    def test_maximum_of_nothing(self):
        value = E("where", args=(load("x", "i", "j"), binary(">", load("x", "i", "j"), integer(5))))
        before = (Stmt("var", "v", binary("+", E("zeros", "f32", axes=("i",)), E("float", -np.inf))),
                  loop("j", "N", Stmt("set", "v", call("max", name("v"), E("reduce", "max", (value,), ("j",))))))
        self.assertEqual(self.rows(name("v"), [[1, 9], [3, 4]], before=before), [9, -np.inf])

    def test_select_takes_presence_from_its_side(self):
        shifted = E("load", "x", (binary("-", name("i"), integer(1)), integer(0)))
        value = call("select", binary("<", name("i"), integer(1)), number(5), shifted)
        self.assertEqual(self.rows(value, [[1, 2], [3, 4]]), [5, 1])
        value = call("select", binary("<", name("i"), integer(1)), shifted, number(5))
        self.assertEqual(self.rows(value, [[1, 2], [3, 4]]), [7, 5])

    def test_one_predicate_of_both_sides(self):
        mask = lambda: E("where", args=(load("x", "i", integer(0)), binary("<", name("i"), integer(1))))
        choice = call("select", binary("<", name("j"), integer(1)), mask(), mask())
        with self.assertRaises(Ambiguous):
            self.rows(name("v"), [[1, 2], [3, 4]], before=self.summed(choice))

    def test_softmax(self):
        before = (Stmt("var", "sm", E("softmax", axes=("i",))), Stmt("var", "v", E("zeros", "f32", axes=("i",))),
                  loop("j", "N",
                       Stmt("let", "p", E("method", "update", (name("sm"), load("x", "i", "j"), name("v")))),
                       Stmt("add", "v", E("reduce", "sum", (binary("*", name("p"), load("w", "j")),), ("j",)))))
        x = [[0, np.log(3), -np.inf], [-np.inf] * 3]
        got = self.rows(E("method", "normalize", (name("sm"), name("v"))), x, before=before, w=[1, 5, 99])
        np.testing.assert_allclose(got, [4, 0], atol=1e-12)
        got = self.rows(E("method", "lse", (name("sm"),)), x, before=before, w=[1, 5, 99])
        np.testing.assert_allclose(got, [np.log(4), -np.inf])
        sink = before + (Stmt("do", value=E("method", "include", (name("sm"), number(0), name("v")))),)
        got = self.rows(E("method", "normalize", (name("sm"), name("v"))), x, before=sink, w=[1, 5, 99])
        np.testing.assert_allclose(got, [16 / 5, 0], atol=1e-12)

    def test_a_score_of_infinity_makes_its_row_nan(self):
        before = (Stmt("var", "sm", E("softmax", axes=("i",))),
                  loop("j", "N", Stmt("do", value=E("method", "update", (name("sm"), load("x", "i", "j"))))))
        got = self.rows(E("method", "lse", (name("sm"),)), [[1, np.inf], [0, 0]], before=before)
        self.assertFalse(np.isfinite(got[0]))
        self.assertAlmostEqual(got[1], np.log(2))

    def test_dot_leaves_out_absent_lanes(self):
        a, b = tensor("a", "bf16", "M", "K"), tensor("b", "bf16", "K", "N")
        masked = E("where", args=(load("a", "i", "k"), binary("!=", name("k"), integer(1))))
        p = op([a, b, tensor("c", "f32", "M", "N", init=0.0)],
               [Kernel("main", (ROWS, COLUMNS), (Stmt("var", "s", E("zeros", "f32", axes=("i", "j"))),
                                                loop("k", "K", Stmt("add", "s", E("dot", args=(masked, load("b", "k", "j"))))),
                                                store(load("c", "i", "j"), name("s"))))])
        arrays = {"a": np.array([[1., np.nan, 2.]]), "b": np.array([[3., 4.], [np.inf, np.nan], [5., 6.]])}
        out = run(p, {"M": 1, "N": 2, "K": 3}, arrays)
        self.assertEqual(out["c"].data.tolist(), [[13, 16]])

    def test_valid_and_lengths(self):
        valid = binary("<", name("t"), E("load", "len", (name("s"),)))
        p = op([tensor("x", "f32", "B", "N", binders=("s", "t"), valid=valid), tensor("len", "i32", "B"), tensor("y", "f32", "B", init=0.0)],
               [Kernel("main", (Range("b", name("B")),),
                       (Stmt("var", "v", number(0)), Stmt("var", "c", integer(0)),
                        Stmt("for", range=Range("j", E("load", "len", (name("b"),)), None, "BN"), body=(
                            Stmt("add", "v", E("reduce", "sum", (load("x", "b", "j"),), ("j",))),
                            Stmt("add", "c", E("reduce", "count", (name("j"),), ("j",))))),
                        store(load("y", "b"), binary("+", name("v"), binary("*", name("c"), integer(100))))))])
        out = run(p, {"B": 3, "N": 3}, {"x": np.array([[1., 2, 4], [8, 16, 32], [64, 128, 256]]), "len": np.array([2, -1, 9])})
        self.assertEqual(out["y"].data.tolist(), [203, 0, 448 + 900])

    def test_division_and_modulo_floor(self):
        p = op([tensor("x", "i32", "M"), tensor("y", "i32", "M", init=0.0), tensor("z", "i32", "M", init=0.0)],
               [Kernel("main", (ROWS,), (store(load("y", "i"), binary("/", load("x", "i"), integer(2))),
                                        store(load("z", "i"), binary("%", load("x", "i"), integer(3)))))])
        out = run(p, {"M": 3}, {"x": np.array([-3, 3, -1])})
        self.assertEqual((out["y"].data.tolist(), out["z"].data.tolist()), ([-2, 1, -1], [0, 0, 2]))

    def test_pairs_full_dimensions_and_kept_outputs(self):
        p = op([tensor("x", "f32", E("bin", "*", (name("G"), name("R"))), "D"), tensor("y", "f32", E("bin", "*", (name("G"), name("R"))), "D", init="keep")],
               [Kernel("main", (Range("g", name("G"), pair=("u", name("R"))),),
                       (store(load("y", E("pair", args=(name("g"), name("u"))), E("full")), binary("*", E("load", "x", (E("pair", args=(name("g"), name("u"))), E("full"))), integer(2))),))],
               params=(("D", 2),))
        x = np.arange(12.).reshape(6, 2)
        out = run(p, {"G": 3, "R": 2}, {"x": x}, kept={"y": np.ones((6, 2))})
        self.assertEqual(out["y"].data.tolist(), (2 * x).tolist())

    def test_stores_through_unique_integers(self):
        """Rows go where integers say; those outside of the output nowhere."""
        p = op([X, tensor("at", "i32", "M", fill="unique"), tensor("y", "f32", "K", "N", init=7.0)],
               [Kernel("main", (ROWS, COLUMNS), (store(E("load", "y", (load("at", "i"), name("j"))), load("x", "i", "j")),))])
        x, at = np.arange(8.).reshape(4, 2), np.array([2, -1, 0, 3])
        out = run(p, {"M": 4, "N": 2, "K": 3}, {"x": x, "at": at})
        self.assertEqual(out["y"].data.tolist(), [[4, 5], [7, 7], [0, 1]])
        self.assertIn("requires unique(at)", show_program(p))
        with self.assertRaises(Invalid):
            run(p, {"M": 4, "N": 2, "K": 3}, {"x": x, "at": np.array([2, -1, 2, 3])})

    def test_slices(self):
        """Halves of rows; a slice of each iteration; one that ends outside, where lanes are absent."""
        two = binary("*", integer(2), name("D"))
        slice_ = lambda first: E("slice", "D", (first,))
        p = op([tensor("x", "f32", "M", two), tensor("y", "f32", binary("*", name("M"), name("D")), init=0.0), tensor("z", "f32", "M", two, init=7.0)],
               [Kernel("main", (Range("i", name("M")),),
                       (store(load("y", slice_(binary("*", name("i"), name("D")))), E("load", "x", (name("i"), slice_(integer(0))))),
                        store(load("z", "i", slice_(name("D"))), E("load", "x", (name("i"), slice_(integer(3)))))))],
               params=(("D", 2),))
        out = run(p, {"M": 2}, {"x": np.arange(8.).reshape(2, 4)})
        self.assertEqual(out["y"].data.tolist(), [0, 1, 4, 5])
        self.assertEqual(out["z"].data.tolist(), [[7, 7, 3, 7], [7, 7, 7, 7]])
        self.assertIn("y[i * D +: D] = x[i, 0 +: D];", show_program(p))

    def test_an_element_is_stored_once(self):
        p = op([X, Y], [Kernel("main", (ROWS, COLUMNS), (store(load("y", "i"), load("x", "i", "j")),))])
        with self.assertRaises(Invalid):
            run(p, {"M": 2, "N": 2}, {"x": np.zeros((2, 2))})
        p = op([X, Y], [Kernel("main", (ROWS, COLUMNS), (store(E("load", "y", (binary("/", name("i"), integer(2)),)), number(1)),))])
        with self.assertRaises(Invalid):
            run(p, {"M": 2, "N": 1}, {"x": np.zeros((2, 1))})

    def test_narrowing(self):
        wide = binary("*", load("x", "i", integer(0)), number(1e5))
        p = op([X, tensor("a", "f16", "M", init=0.0), tensor("b", "f16", "M", init=0.0, overflow="sat"), tensor("c", "f32", "M", init=0.0)],
               [Kernel("main", (ROWS,), (store(load("a", "i"), E("cast", "f16", (wide,))), store(load("b", "i"), E("cast", "f16", (wide,))),
                                        store(load("c", "i"), E("cast", "f32", (E("cast", "f16", (wide,)),)))))])
        out = run(p, {"M": 2, "N": 1}, {"x": np.array([[2.], [np.inf]])})
        self.assertEqual([out[k].data.tolist() for k in "abc"], [[np.inf, np.inf], [65504, np.inf], [65504, np.inf]])

    def test_optional(self):
        p = op([tensor("w", "f32", "M", optional=True, default=number(3)), Y],
               [Kernel("main", (ROWS,), (store(load("y", "i"), E("load", "w", (binary("+", name("i"), integer(1)),))),))])
        self.assertEqual(run(p, {"M": 3}, {})["y"].data.tolist(), [3, 3, 7])
        self.assertEqual(run(p, {"M": 3}, {"w": np.array([1., 2, 4])})["y"].data.tolist(), [2, 4, 7])

    def test_gather(self):
        p = op([X, tensor("id", "i32", "M"), Y],
               [Kernel("main", (ROWS,), (store(load("y", "i"), E("load", "x", (load("id", "i"), integer(1)))),))])
        out = run(p, {"M": 4, "N": 2}, {"x": np.arange(8.).reshape(4, 2), "id": np.array([2, -1, 4, 0])})
        self.assertEqual(out["y"].data.tolist(), [5, 7, 7, 1])

    def test_part_of_a_range(self):
        x, y, z = tensor("x", "f32", "M"), tensor("y", "f32", "M", init=-1.0), tensor("z", "i32", "M", init=-1)
        part = Range("i", binary("-", name("M"), integer(1)), integer(1), "BM", part=(name("s"), integer(3)))
        p = op([x, y, z], [Kernel("main", (Range("s", integer(3)), part), (
            store(load("y", "i"), E("else", args=(E("where", args=(load("x", "i"), binary(">", load("x", "i"), integer(2)))), number(9.0)))),
            store(load("z", "i"), binary("+", binary("*", call("rel", name("i")), integer(10)), name("s")))))])
        self.assertIn("kernel main(s in 3, i in split(1..M - 1, s, 3) by BM)", show_program(p))
        for block in (None, 1, 2):
            out = run(p, {"M": 7}, {"x": np.arange(7.0)}, block=block)
            self.assertEqual(out["y"].data.tolist(), [-1, 9, 9, 3, 4, 5, -1])
            self.assertEqual(out["z"].data.tolist(), [-1, 0, 10, 21, 31, 42, -1])
        self.assertEqual(run(p, {"M": 1}, {"x": np.zeros(1)})["y"].data.tolist(), [-1])

    def test_weights_of_nothing_in_a_part(self):
        x, w, y = tensor("x", "f32", "N"), tensor("w", "f32", "N"), tensor("y", "f32", integer(3), init=7.0)
        part = Range("j", name("N"), None, "BN", part=(name("s"), integer(3)))
        body = (Stmt("var", "sm", E("softmax")), Stmt("var", "v", number(0.0)),
                Stmt("for", range=part, body=(
                    Stmt("let", "p", E("method", "update", (name("sm"), load("x", "j"), name("v")))),
                    Stmt("add", "v", E("reduce", "sum", (binary("*", name("p"), load("w", "j")),), ("j",))))),
                store(load("y", "s"), E("method", "normalize", (name("sm"), name("v")))))
        p = op([x, w, y], [Kernel("main", (Range("s", integer(3)),), body)])
        scores = np.array([0.0, 0, -np.inf, -np.inf, 0, 0])
        self.assertEqual(run(p, {"N": 6}, {"x": scores, "w": np.arange(6.0)})["y"].data.tolist(), [0.5, 0, 4.5])
        with self.assertRaises(Ambiguous):
            run(p, {"N": 6}, {"x": scores, "w": np.array([0, 1, np.inf, 3, 4, 5])})

    def test_rel_counts_from_the_start(self):
        p = op([tensor("lo", "i32", "B"), tensor("y", "i32", "B", init=0.0)],
               [Kernel("main", (Range("b", name("B")),),
                       (Stmt("var", "v", integer(0)),
                        Stmt("for", range=Range("j", integer(5), E("load", "lo", (name("b"),)), "BN"),
                             body=(Stmt("add", "v", E("reduce", "sum", (call("rel", name("j")),), ("j",))),)),
                        store(load("y", "b"), name("v"))))])
        self.assertEqual(run(p, {"B": 3}, {"lo": np.array([3, 0, -4])})["y"].data.tolist(), [1, 10, 10])

    def test_ranges_with_an_absent_bound_are_empty(self):
        bound = lambda at: E("load", "cu", (at,))
        p = op([tensor("cu", "i32", "B"), tensor("y", "i32", "B", init=7.0)],
               [Kernel("main", (Range("b", name("B")),),
                       (Stmt("var", "v", integer(0)),
                        Stmt("for", range=Range("j", bound(name("b")), bound(binary("-", name("b"), integer(1))), "BN"),
                             body=(Stmt("add", "v", E("reduce", "sum", (name("j"),), ("j",))),)),
                        store(load("y", "b"), name("v"))))])
        for block in (None, 1):
            self.assertEqual(run(p, {"B": 3}, {"cu": np.array([2, 4, 3])}, block=block)["y"].data.tolist(), [0, 2 + 3, 0])

    def test_loops_over_scalars(self):
        body = (Stmt("var", "t", E("zeros", "f32", axes=("i",))),
                Stmt("for", range=Range("h", name("N")), body=(
                    Stmt("set", "t", binary("+", binary("*", name("t"), number(0.5)), load("x", "i", "h"))),)))
        self.assertEqual(self.rows(name("t"), [[1, 2, 4], [0, 0, 8]], before=body), [5.25, 8])


class Temps(unittest.TestCase):
    def test_a_later_kernel_loads_them(self):
        sums = (Stmt("var", "t", E("zeros", "f32", axes=("i",))),
                Stmt("for", range=Range("j", name("N"), None, "BN"),
                     body=(Stmt("add", "t", E("reduce", "sum", (load("x", "i", "j"),), ("j",))),)),
                store(load("s", "i"), name("t")))
        twice = Kernel("k", (Range("i", name("M"), None, "CM"),), (store(load("y", "i"), binary("*", load("s", "i"), number(2))),))
        p = op([X, tensor("s", "f32", "M", temp=True), Y], [Kernel("main", (ROWS,), sums), twice])
        out = run(p, {"M": 2, "N": 3}, {"x": np.array([[1., 2, 3], [4, 5, 6]])})
        self.assertEqual(list(out), ["y"])
        self.assertEqual(out["y"].data.tolist(), [12, 30])


class Specialised(unittest.TestCase):
    def value(self, p, x=3.0):
        return run(plain(p), {"M": 1, "N": 1}, {"x": np.array([[x]])})["y"].data.tolist()[0]

    def program(self, value, **more):
        p = op([X, Y], [Kernel("main", (ROWS,), (store(load("y", "i"), value),))])
        return replace(p, **more)

    def test_choose(self):
        chosen = E("choose", None, (binary("&&", name("hot"), binary("==", name("T"), name("bf16"))), number(1), number(2)))
        for hot, type_, wanted in ((True, "bf16", 1), (True, "f16", 2), (False, "bf16", 2)):
            self.assertEqual(self.value(self.program(chosen, params=(("hot", hot), ("T", type_)))), wanted)

    def test_if(self):
        stmt = Stmt("if", value=binary(">", name("D"), integer(4)), body=(store(load("y", "i"), number(1)),), orelse=(store(load("y", "i"), number(2)),))
        for d, wanted in ((8, 1), (4, 2)):
            p = op([X, Y], [Kernel("main", (ROWS,), (stmt,))])
            self.assertEqual(self.value(replace(p, params=(("D", d),))), wanted)

    def test_extends(self):
        below = ("f1", ("z",), binary("+", name("z"), number(1)))
        above = ("f1", ("z",), binary("*", call("super", name("z")), number(10)))
        p = self.program(call("f1", load("x", "i", integer(0))), hooks=(below,), extends=Extension((), (above,)))
        self.assertEqual(self.value(p), 40)
        self.assertIn("op f extends fBase\n{\n  f1(z) = super(z) * 10.0;\n}", show_program(p))

    def test_sugar_means_the_same(self):
        for seed in range(40):
            p = generate.program(seed)
            self.assertEqual(plain(plain(p)), plain(p))
            again = sugared(plain(p), random.Random(seed))
            dropped = lambda q: replace(plain(q), hooks=(), extends=None)
            if not again.extends:
                self.assertEqual(dropped(again), dropped(p))


class Additions(unittest.TestCase):
    def test_iterations_meet(self):
        """Rows of two batches, and a value that does not say which batch it is of; absent lanes add nothing."""
        batch = Range("b", name("B"))
        x, y, z = tensor("x", "f32", "B", "M"), tensor("y", "f32", "M", init=7.0), tensor("z", "f32", integer(1), init=0.0, deterministic=True)
        positive = E("where", args=(load("x", "b", "i"), binary(">", load("x", "b", "i"), integer(0))))
        p = op([x, y, z], [Kernel("main", (batch, ROWS), (Stmt("gather", value=load("x", "b", "i"), target=load("y", "i")),)),
                           Kernel("rest", (batch, ROWS), (Stmt("gather", value=E("reduce", "sum", (positive,), ("i",)), target=load("z", integer(0))),)),
                           Kernel("ones", (batch,), (Stmt("gather", value=number(1), target=load("z", integer(0))),))])
        out = run(p, {"B": 2, "M": 3}, {"x": np.array([[1.0, -2, 3], [10, 20, -30]])})
        self.assertEqual(out["y"].data.tolist(), [18, 25, -20])
        self.assertEqual(out["z"].data.tolist(), [36])
        self.assertIn("z: f32[1] out_init(0.0) deterministic", show_program(p))
        self.assertIn("y[i] += x[b, i];", show_program(p))


class Extra(unittest.TestCase):
    def test_steps_left_out(self):
        """Rows of the second batch take no step: what the loop folds into keeps its value, what it stores is not stored."""
        batch, flag = Range("b", name("B")), tensor("flag", "bool", "B")
        x, y, z = tensor("x", "f32", "B", "M"), tensor("y", "f32", "B", init=7.0), tensor("z", "f32", "B", "M", init=7.0)
        fold = Stmt("add", "v", E("reduce", "sum", (load("x", "b", "i"),), ("i",)))
        rows = Stmt("for", value=load("flag", "b"), range=Range("i", name("M"), None, "BM"), body=(fold, store(load("z", "b", "i"), load("x", "b", "i"))))
        p = op([x, flag, y, z], [Kernel("main", (batch,), (Stmt("var", "v", number(1)), rows, store(load("y", "b"), name("v"))))])
        for block in (None, 2):
            out = run(p, {"B": 2, "M": 3}, {"x": np.array([[1.0, 2, 3], [10, 20, 30]]), "flag": np.array([True, False])}, block=block)
            self.assertEqual(out["y"].data.tolist(), [7, 1])
            self.assertEqual(out["z"].data.tolist(), [[1, 2, 3], [7, 7, 7]])
        self.assertIn("for i in M by BM when flag[b] {", show_program(p))
        self.assertIn("for i in M by BM when any(flag[i]) {", show_program(replace(p, kernels=(Kernel("main", (batch,), (replace(rows, value=E("any", None, (load("flag", "i"),))),)),))))

    def test_pairs_are_an_axis(self):
        pair = Range("r", name("M"), None, "BM", ("u", name("R")), None, "i")
        x, w, y, z = tensor("x", "f32", "R", "M"), tensor("w", "f32", "R"), tensor("y", "f32", "M", "R", init=7.0), tensor("z", "i32", "M", "R", init=7.0)
        value = binary("*", load("x", "u", "i"), load("w", "u"))
        p = op([x, w, y, z], [Kernel("main", (pair,), (store(load("y", "i", "u"), value), store(load("z", "i", "u"), binary("+", name("r"), integer(0)))))])
        out = run(p, {"M": 2, "R": 3}, {"x": np.array([[1.0, 2], [3, 4], [5, 6]]), "w": np.array([1.0, 10, 100])})
        self.assertEqual(out["y"].data.tolist(), [[1, 30, 500], [2, 40, 600]])
        self.assertEqual(out["z"].data.tolist(), [[0, 1, 2], [3, 4, 5]])
        self.assertIn("kernel main(r = (i, u) in (M, R) by BM)", show_program(p))

    def test_one_element_for_all(self):
        x = tensor("x", "f32", "M", "N", ones=(0,))
        w = tensor("w", "f32", "M")
        p = op([x, w, Y], [Kernel("main", (ROWS,), (store(load("y", "i"), binary("+", load("w", "i"), E("load", "x", (name("i"), integer(1))))),))])
        for given in ([[1.0, 2]], [[1.0, 2], [1, 2], [1, 2]]):
            out = run(p, {"M": 3, "N": 2}, {"x": np.array(given), "w": np.array([10.0, 20, 30])})
            self.assertEqual(out["y"].data.tolist(), [12, 22, 32])
        self.assertIn("x: f32[~M, N]", show_program(p))

    def test_in_place(self):
        y = tensor("y", "f32", "M", init="keep", inout=True)
        doubled = E("where", args=(binary("+", load("y", "i"), load("y", "i")), binary("<", name("i"), integer(2))))
        p = op([y], [Kernel("main", (ROWS,), (store(load("y", "i"), doubled),))])
        out = run(p, {"M": 3}, {}, {"y": np.array([1.0, 2, 3])})
        self.assertEqual(out["y"].data.tolist(), [2, 4, 3])
        self.assertIn("op f(inout y: f32[M])\n-> ()", show_program(p))

    def test_merged_parts(self):
        """Two parts of weights 1 and 3, and rows of which one part or both are empty."""
        l1, l2, o1, o2 = (tensor(n, "f32", *dims) for n, dims in (("l1", "M"), ("l2", "M"), ("o1", "MD"), ("o2", "MD")))
        y, lse = tensor("y", "f32", "M", "D", init=7.0), tensor("lse", "f32", "M", init=7.0)
        part = lambda n: Stmt("do", value=E("method", "merge", (name("sm"), load("l" + n, "i"), E("load", "o" + n, (name("i"), E("full"))), name("v"))))
        body = (Stmt("var", "v", E("zeros", "f32", axes=("i", "D"))), Stmt("var", "sm", E("softmax", axes=("i",))), part("1"), part("2"),
                Stmt("store", value=E("method", "normalize", (name("sm"), name("v"))), target=E("load", "y", (name("i"), E("full")))),
                store(load("lse", "i"), E("method", "lse", (name("sm"),))))
        p = op([l1, l2, o1, o2, y, lse], [Kernel("main", (ROWS,), body)], [("D", 2)])
        none = -np.inf
        out = run(p, {"M": 4}, {"l1": np.array([0.0, none, 2, none]), "l2": np.array([np.log(3.0), 1, none, none]), "o1": np.array([[1.0, 2], [np.nan, 0], [5, 6], [0, 0]]),
                                "o2": np.array([[5.0, 6], [3, 4], [np.inf, np.nan], [0, 0]])})
        np.testing.assert_allclose(out["y"].data, [[4, 5], [3, 4], [5, 6], [0, 0]], rtol=1e-12)
        np.testing.assert_allclose(out["lse"].data, [np.log(4), 1, 2, none], rtol=1e-12)

    def test_present(self):
        w = tensor("w", "f32", "M", optional=True)
        p = op([X, w, Y], [Kernel("main", (ROWS,), (store(load("y", "i"), E("present", "w", (load("w", "i"), number(5)))),))])
        self.assertEqual(run(p, {"M": 1, "N": 1}, {"x": np.array([[1.0]]), "w": np.array([3.0])})["y"].data.tolist(), [3])
        self.assertEqual(run(p, {"M": 1, "N": 1}, {"x": np.array([[1.0]])})["y"].data.tolist(), [5])
        self.assertIn("y[i] = if present(w) { w[i] } else { 5.0 };", show_program(p))

    def test_views(self):
        """Rows by way of a table, of which a condition leaves out some."""
        at = tensor("at", "i32", "M")
        view = ("w", ("a", "b"), E("load", "x", (load("at", "a"), name("b"))), binary("<", name("a"), integer(2)))
        p = replace(op([X, at, Y], [Kernel("main", (ROWS,), (store(load("y", "i"), E("view", "w", (name("i"), integer(1)))),))]), views=(view,))
        out = run(p, {"M": 3, "N": 2}, {"x": np.array([[1.0, 2], [3, 4], [5, 6]]), "at": np.array([2, 5, 0])})
        self.assertEqual(out["y"].data.tolist(), [6, 7, 7])
        self.assertIn("  view w[a, b] = x[at[a], b] valid a < 2;", show_program(p))
        self.assertIn("y[i] = w[i, 1];", show_program(p))

    def test_bytes_hold_what_is_drawn(self):
        x = np.array([0.3, -1000.0, 1.0, 449.0])
        self.assertEqual(quantise(x, "e4m3").tolist(), [0.3125, -448, 1, 448])
        self.assertEqual(quantise(x, "i8").tolist(), [2, -128, 8, 127])
        self.assertEqual(to_bytes(np.array([1.0, -448]), "e4m3"), bytes([0x38, 0xFE]))

    def test_segments(self):
        """Rows of two segments; one row belongs to none."""
        segments = Range("i", load("cu", binary("+", name("b"), integer(1))), load("cu", "b"), "BM")
        x, cu, y = tensor("x", "f32", "M"), tensor("cu", "i32", binary("+", name("B"), integer(1)), segments=name("M")), tensor("y", "f32", "M", init=7.0)
        p = op([x, cu, y], [Kernel("main", (Range("b", name("B")), segments), (store(load("y", "i"), binary("+", load("x", "i"), binary("*", name("b"), number(10)))),))])
        out = run(p, {"M": 4, "B": 2}, {"x": np.array([1.0, 2, 3, 4]), "cu": np.array([0, 1, 3])})
        self.assertEqual(out["y"].data.tolist(), [1, 12, 13, 7])
        self.assertIn("requires segments(cu, M)", show_program(p))

    def test_every_layout_is_drawn(self):
        """Half of the cases lie in memory as usual; one element stands for all where the layout says so."""
        p = op([tensor("x", "f32", "B", "M", "N"), tensor("at", "i32", "M", fill="unique"), tensor("y", "f32", "M", init=0.0)], [])
        cases = [Case((("B", 2), ("M", 3), ("N", 4)), (), (), seed) for seed in range(200)]
        kinds = {t: {layouts(p, c).get(t) for c in cases} for t in ("x", "at", "y")}
        self.assertEqual(kinds["x"], {None, "contiguous", "unaligned", "padded", "transposed", "permuted", "broadcast"})
        self.assertEqual(kinds["at"] | kinds["y"], {None, "contiguous", "unaligned"})
        for c in cases:
            x = draw(p, c)[0]["x"]
            self.assertEqual((x[0] == x[1]).all(), layouts(p, c).get("x") == "broadcast")

    def test_weight_of_a_score(self):
        value = E("call", "softmax_weight", (load("x", "i", integer(0)), number(1)))
        np.testing.assert_allclose(self.of_rows(value, [[2.0], [-np.inf]]), [np.e, 0])

    def of_rows(self, value, x):
        p = op([X, Y], [Kernel("main", (ROWS,), (store(load("y", "i"), value),))])
        return run(p, {"M": len(x), "N": len(x[0])}, {"x": np.array(x)})["y"].data.tolist()

    def test_pairs_are_one_axis_and_number_no_segments(self):
        for seed in (94003284, 94006704, 94002437, 97000396):
            for k in generate.program(seed).kernels:
                pairs = [r for r in k.ranges if r.fused]
                self.assertLessEqual(len(pairs), 1)
                named = {n for r in pairs for n in (r.fused, r.pair[0])}
                self.assertFalse(any(e.op == "name" and e.name in named for r in k.ranges if r.lo is not None for e in r.lo.walk()))

    def test_numbers_of_pairs_index_one_dimension(self):
        p = generate.program(1043000150)
        pair = next(r for k in p.kernels for r in k.ranges if r.fused)
        both = binary("*", pair.hi, pair.pair[1])
        for t in ("x7", "y11"):
            self.assertIn(both, next(o.dims for o in p.tensors if o.name == t))
        loads = [e for s in statements(p.kernels[0].body) for top in s.expressions() for e in top.walk() if e.op == "load" and e.name in ("x7", "y11")]
        self.assertTrue(loads and all(name(pair.name) in e.args for e in loads))

    def test_parts_make_the_whole(self):
        # A sum, and a softmax whose parts are merged several at once.
        for seed, output, dims in ((1044000001, "y6", {"M": 3, "N": 50}), (1048000018, "y10", {"M": 5, "S": 50})):
            p = generate.program(seed)
            self.assertEqual(p.launches, (("Z", integer(1), integer(8)),))
            arrays, kept = draw(plain(p), Case(tuple(dims.items()), (), (), 7))
            whole, parts = (run(plain(p), {**dims, "Z": z}, arrays, kept)[output] for z in (1, 4))
            np.testing.assert_allclose(whole.data, parts.data, rtol=1e-2)
            self.assertTrue(np.abs(whole.data).max() > 0)

    def test_old_seeds_keep_their_programs(self):
        self.assertFalse(any(t.ones or t.inout for seed in range(200) for t in generate.program(seed).tensors))
        self.assertTrue(any(t.ones for seed in range(1000, 1200) for t in generate.program(seed).tensors))


class Names(unittest.TestCase):
    def test_no_name_is_a_type(self):
        b = Builder(random.Random(0))
        names = [b.fresh(prefix) for _ in range(40) for prefix in "ui"]
        self.assertEqual(len(set(names)), len(names))
        self.assertFalse({"u8", "i8", "i32"} & set(names))


class Printer(unittest.TestCase):
    def test_precedence(self):
        a, b, c = name("a"), name("b"), name("c")
        self.assertEqual(show(binary("-", a, binary("-", b, c))), "a - (b - c)")
        self.assertEqual(show(binary("*", binary("+", a, b), c)), "(a + b) * c")
        self.assertEqual(show(E("cast", "bf16", (binary("*", a, b),))), "(a * b) as bf16")
        self.assertEqual(show(E("where", args=(E("cast", "f16", (a,)), binary("||", b, c)))), "a as f16 where b || c")
        self.assertEqual(show(E("neg", args=(E("neg", args=(a,)),))), "-(-a)")

    def test_program(self):
        p = op([X, Y], [Kernel("main", (ROWS,), (store(load("y", "i"), load("x", "i", integer(0))),))])
        self.assertIn("kernel main(i in M by BM) {\n    y[i] = x[i, 0];", show_program(p))


if __name__ == "__main__":
    unittest.main()
