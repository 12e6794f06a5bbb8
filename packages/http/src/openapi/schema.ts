/** JSON Schema (2020-12) of codecs, read off their layouts: what a codec reads and writes, a generated client knows. */
import { type AnyCodec, type Json, type JsonObject, boolean, layoutOf, string, text, u32, u64 } from "@pawl/tool-value";

type Schema = JsonObject;

const scalars = new Map<AnyCodec, Schema>([
  [string, { type: "string" }],
  [text, { type: "string" }],
  [boolean, { type: "boolean" }],
  [u64, { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER }],
  [u32, { type: "integer", minimum: 0, maximum: 0xffff_ffff }],
]);

const without = (article: string): string => article.replace(/^(?:struct|an?|the) /i, "");

/** Makes a name that an OpenAPI document may have: `RequestedCall` of `struct RequestedCall`. */
const nameOf = (codec: string): string =>
  without(codec)
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "")
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join("");

/** Collects the schemas of codecs. Records and unions have names, by which others refer to them. */
export class Schemas {
  readonly #names = new Map<AnyCodec, string>();
  readonly #named: { [name: string]: Json } = {};

  /** The schemas that others refer to. */
  get components(): Schema {
    return this.#named;
  }

  /** Returns the schema of a codec, or a reference to it. */
  of(codec: AnyCodec): Schema {
    const layout = layoutOf(codec);
    switch (layout?.type) {
      case undefined:
        return scalars.get(codec) ?? { description: codec.name };
      case "value":
        return scalars.get(codec) ?? {};
      case "names":
        return { type: "string", enum: [...layout.of] };
      case "items": {
        const items = this.of(layout.of);
        return layout.isKeyed === true ? { type: "object", additionalProperties: items } : { type: "array", items };
      }
      case "as": {
        const schema = this.of(layout.of());
        return layout.isNullable === true ? { anyOf: [schema, { type: "null" }] } : schema;
      }
      case "fields":
      case "variants":
        return this.#reference(codec);
    }
  }

  #reference(codec: AnyCodec): Schema {
    const known = this.#names.get(codec);
    const name = known ?? this.#freeName(nameOf(codec.name));
    if (known === undefined) {
      this.#names.set(codec, name);
      this.#named[name] = {}; // Taken, so that a codec that contains itself refers to it.
      this.#named[name] = this.#written(codec);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  #freeName(wanted: string): string {
    for (let n = 1; ; n++) {
      const name = n === 1 ? wanted : `${wanted}${n}`;
      if (!Object.hasOwn(this.#named, name)) return name;
    }
  }

  /** Writes a record or a union out; `tag` is the field by which a union tells the record from others. */
  #written(codec: AnyCodec, tag?: readonly [field: string, variant: string]): Schema {
    const layout = layoutOf(codec);
    if (layout?.type === "fields") {
      const own = tag === undefined ? {} : { [tag[0]]: { type: "string", const: tag[1] } };
      const fields = [...layout.of].map(([name, part]): [string, Schema] => [name, this.of(part)]);
      const required = [...(tag === undefined ? [] : [tag[0]]), ...layout.of.keys()];
      return {
        type: "object",
        properties: { ...own, ...Object.fromEntries(fields) },
        required: required.filter((name) => !layout.mayMiss.has(name)),
      };
    }
    if (layout?.type !== "variants") return this.of(codec);
    const members = [...layout.of].map(([variant, part]) =>
      this.#member(layout.tag, String(variant), part as AnyCodec),
    );
    const { units = [] } = layout;
    return { oneOf: [...members, ...(units.length === 0 ? [] : [{ type: "string", enum: [...units] }])] };
  }

  #member(tag: string | undefined, variant: string, part: AnyCodec): Schema {
    if (tag !== undefined) return this.#written(part, [tag, variant]);
    return { type: "object", properties: { [variant]: this.of(part) }, required: [variant] };
  }
}
