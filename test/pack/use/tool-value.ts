import { canonicalJson, parse, valueHash } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";

const value = parse('{"b": 9007199254740993, "a": 1}');
if (E.isLeft(value)) throw new Error(value.left.message);
console.log(canonicalJson(value.right), valueHash(value.right).length);
