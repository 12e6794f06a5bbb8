/** Tests what lints can't hold. */
import { dirname, join, normalize, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { files, purePackages, textOf } from "./project.ts";

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports: { readonly [path: string]: string };
  readonly bin?: { readonly [name: string]: string };
  readonly license?: string;
  readonly browser?: { readonly [module: string]: string };
  readonly engines?: { readonly node?: string };
  readonly dependencies?: { readonly [name: string]: string };
  readonly peerDependencies?: { readonly [name: string]: string };
}

const packages = files.flatMap(
  (file) => /^packages\/(?<name>[^/]+)\/package\.json$/.exec(file)?.groups?.["name"] ?? [],
);
const manifests = files
  .filter((file) => /^[^/]+(?:\/[^/]+)?\/package\.json$/.test(file))
  .map((file) => ({ file, ...(JSON.parse(textOf(file)) as Manifest) }));
const published = manifests.filter((manifest) => manifest.private !== true);
const dependenciesOf = ({ dependencies, peerDependencies }: Manifest): readonly string[] =>
  Object.keys({ ...dependencies, ...peerDependencies });
const dependenciesNamed = (name: string): readonly string[] =>
  manifests.filter((manifest) => manifest.name === name).flatMap(dependenciesOf);

const sources = files.filter((file) => /^packages\/[^/]+\/src\/.*\.ts$/.test(file));
const imports = [
  /^(?:import|export|\}).*? from "(?<name>[^"]+)";$/gm,
  /^import "(?<name>[^"]+)";$/gm,
  /\bimport\("(?<name>[^"]+)"\)/g,
];
const importsOf = (file: string): readonly string[] =>
  imports.flatMap((form) => [...textOf(file).matchAll(form)].map(({ groups }) => groups?.["name"] as string));
const reachableFrom = (entry: string): ReadonlySet<string> => {
  const reached = new Set([entry]);
  for (const file of reached) {
    const local = importsOf(file).filter((name) => name.startsWith("."));
    for (const name of local) reached.add(normalize(join(dirname(file), name)));
  }
  return reached;
};

const isKebab = (part: string): boolean =>
  /^(?:\.?[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+)*|LICENSE|README\.md|SKILL\.md)$/.test(part);

/** The numbered invariants in the header of a model, as `C1`. */
const invariantsOf = (model: string): readonly string[] =>
  [...textOf(model).matchAll(/^ \*   (?<id>[A-Z]\d+)  /gm)].map(({ groups }) => groups?.["id"] as string);

describe("invariants", () => {
  const models = sources.filter((file) => invariantsOf(file).length > 0);
  const textBeside = (model: string): string =>
    sources
      .filter((file) => dirname(file) === dirname(model))
      .map(textOf)
      .join("\n");
  it("have a checker each, in the folder of their model", () => {
    expect(models.length).toBeGreaterThan(14);
    const unchecked = models.flatMap((model) => {
      const beside = textBeside(model);
      return invariantsOf(model)
        .filter((id) => !new RegExp(`\\bcheck${id}(?:Change)?\\b`).test(beside))
        .map((id) => `${model}: ${id}`);
    });
    expect(unchecked).toEqual([]);
  });
});

describe("files", () => {
  it("in src are all reached from what the package exports", () => {
    const entries = published.flatMap(({ file, exports, bin = {}, browser = {} }) =>
      Object.values({ ...exports, ...bin, ...browser }).map((path) => join(dirname(file), path)),
    );
    const reached = new Set(
      entries.filter((entry) => files.includes(entry)).flatMap((entry) => [...reachableFrom(entry)]),
    );
    expect(sources.filter((file) => !reached.has(file))).toEqual([]);
  });

  it("of code are at most 300 lines long", () => {
    const code = files.filter((file) => file.endsWith(".ts") && !file.includes("test/"));
    expect(code.filter((file) => textOf(file).split("\n").length > 301)).toEqual([]);
  });

  it("have kebab-case names, in folders that are singular", () => {
    const named = files.filter((file) => /^(?:packages|bench|scripts|examples|apps|test|docs|cases)\//.test(file));
    expect(named.filter((file) => !file.split("/").every(isKebab))).toEqual([]);
    const folders = sources.flatMap((file) => dirname(file).split("/").slice(2));
    expect(folders.filter((folder) => /[^s]s$/.test(folder))).toEqual([]);
  });

  it("name no registry: which one serves is the machine's business", () => {
    const registry = /\bregistry\.[\w-]+\.\w|\bregistry\s*[=:]\s*["']?https?:|\btarball:\s*http/;
    expect(files.filter((file) => registry.test(textOf(file)))).toEqual([]);
  });

  it("leave nothing for later, and leave no test out", () => {
    const later = /\bTO[D]O\b|\bFIX[M]E\b/;
    const leftOut = /\b(?:it|test|describe)\.(?:only|skip|todo|fails)\b/;
    expect(files.filter((file) => later.test(textOf(file)))).toEqual([]);
    expect(files.filter((file) => file.endsWith(".test.ts") && leftOut.test(textOf(file)))).toEqual([]);
  });
});

describe("docs", () => {
  // What is written from the code, `walk.test.ts` compares with the code.
  const pages = files.filter((file) => /^(?:README\.md|docs\/(?!walk\.).+\.md)$/.test(file));

  it("link to what exists", () => {
    const dead = pages.flatMap((page) =>
      [...textOf(page).matchAll(/\]\((?!https?:)(?<target>[^)#]+)(?:#[^)]*)?\)/g)]
        .map((match) => normalize(join(dirname(page), match.groups?.["target"] as string)))
        .filter((target) => !files.some((file) => file === target || file.startsWith(`${target}/`)))
        .map((target) => `${page}: ${target}`),
    );
    expect(dead).toEqual([]);
  });

  it("name files that exist", () => {
    const dead = pages.flatMap((page) =>
      [...textOf(page).matchAll(/`(?<name>[\w@./-]+\.(?:ts|md|json|yaml))`/g)]
        .map((match) => match.groups?.["name"] as string)
        .filter((name) => !files.some((file) => `/${file}`.endsWith(`/${name}`)))
        .map((name) => `${page}: ${name}`),
    );
    expect(dead).toEqual([]);
  });
});

describe("packages", () => {
  it("that are published say where they run and under which licence, and bring it along", () => {
    for (const { file, name, license, engines } of published) {
      const folder = dirname(file).split("/").at(-1) ?? "";
      expect([file, name]).toEqual([file, folder.includes("pawl") ? folder : `@pawl/${folder}`]);
      expect([name, license, engines?.node]).toEqual([name, "MIT", ">=22.13"]);
      expect(files).toContain(join(dirname(file), "LICENSE"));
    }
    expect(published.map(({ file }) => dirname(file))).toEqual(packages.map((name) => `packages/${name}`));
  });

  it("depend in one direction", () => {
    const layers = [
      ["tool-value", "egress", "codemod", "create-pawl", "eslint-plugin-pawl"],
      ["sansio-core"],
      ["runtime"],
      ["compat", "testkit", "wire"],
      ["mcp", "journal-postgres", "http", "studio", "agent", "ai-sdk", "openai-agents"],
      ["flow"],
      ["tools", "driver-node", "driver-browser", "driver-cloudflare", "inspector"],
      ["cli"],
    ];
    const layerOf = (name: string): number => {
      const layer = layers.findIndex((names) => names.includes(name.replace("@pawl/", "")));
      return layer === -1 ? layers.length : layer;
    };
    const wrong = manifests.flatMap((manifest) =>
      dependenciesOf(manifest)
        .filter((name) => name.startsWith("@pawl/") && layerOf(name) >= layerOf(manifest.name))
        .map((name) => `${manifest.name} -> ${name}`),
    );
    expect(wrong).toEqual([]);
    expect(packages.filter((name) => layerOf(name) === layers.length)).toEqual([]);
  });

  it("that are pure depend on nothing but each other and three libraries", () => {
    const allowed = new Set(["fp-ts", "io-ts", "@noble/hashes", ...purePackages.map((name) => `@pawl/${name}`)]);
    const pure = manifests.filter(({ name }) => purePackages.includes(name.replace("@pawl/", "")));
    expect(pure).toHaveLength(purePackages.length);
    expect(pure.flatMap(dependenciesOf).filter((name) => !allowed.has(name))).toEqual([]);
  });

  it("for pages bring nothing along that is Node's", () => {
    const brought = new Set(["@pawl/driver-browser", "@pawl/inspector"]);
    for (const name of brought) for (const own of dependenciesNamed(name)) brought.add(own);
    const libraries = [
      "fp-ts",
      "io-ts",
      "devalue",
      "@noble/hashes",
      "@cfworker/json-schema",
      "@standard-schema/spec",
      "idb",
    ];
    expect([...brought].filter((name) => !name.startsWith("@pawl/")).toSorted()).toEqual(libraries.toSorted());
    const folders = [...brought].flatMap((name) => (name.startsWith("@pawl/") ? [name.replace("@pawl/", "")] : []));
    const own = sources.filter((file) => folders.includes(file.split("/")[1] as string));
    expect(own.filter((file) => importsOf(file).some((name) => name.startsWith("node:")))).toEqual([]);
  });

  it("that pages may load give bundlers the form of fp-ts that they can take apart", () => {
    const forPages = packages.filter(
      (name) => !["driver-node", "cli", "egress", "codemod", "create-pawl", "eslint-plugin-pawl"].includes(name),
    );
    const wrong = forPages.flatMap((name) => {
      const imported = sources.filter((file) => file.startsWith(`packages/${name}/src/`)).flatMap(importsOf);
      const { browser = {} } = manifests.find((manifest) => manifest.name === `@pawl/${name}`) as Manifest;
      const said = Object.entries(browser).filter(([from]) => from.startsWith("fp-ts/"));
      const wanted = [...new Set(imported)].filter((other) => other.startsWith("fp-ts/lib/"));
      const pairs = wanted.map((other): [string, string] => [other, other.replace("/lib/", "/es6/")]);
      return isDeepStrictEqual(Object.fromEntries(said), Object.fromEntries(pairs)) ? [] : [name];
    });
    expect(wrong).toEqual([]);
  });

  it("import only what they declare", () => {
    const wrong = sources.flatMap((file) => {
      const folder = file.split("/").slice(0, 2).join("/");
      const declared = dependenciesOf(manifests.find((manifest) => dirname(manifest.file) === folder) as Manifest);
      const bare = importsOf(file).filter((name) => !name.startsWith(".") && !/^(?:node|cloudflare):/.test(name));
      const isDeclared = (name: string): boolean => declared.some((own) => name === own || name.startsWith(`${own}/`));
      return bare.filter((name) => !isDeclared(name)).map((name) => `${relative(folder, file)}: ${name}`);
    });
    expect(wrong).toEqual([]);
  });
});
