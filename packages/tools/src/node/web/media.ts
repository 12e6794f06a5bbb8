/** The media type of a body: whether it is text or HTML, its character encoding, and its file name. */

const bareType = (type: string): string => (type.split(";")[0] ?? "").trim().toLowerCase();

const textTypes =
  /^(?:text\/.*|.*\+(?:json|xml|yaml)|application\/(?:json|json-seq|x-ndjson|jsonl|xml|xhtml\+xml|javascript|x-javascript|ecmascript|typescript|yaml|x-yaml|toml|sql|graphql|x-sh|x-www-form-urlencoded|rtf))$/;

/** Returns true for text types, and for a missing type: then the bytes decide. */
export const isTextual = (type: string | undefined): boolean =>
  type === undefined || bareType(type) === "" || textTypes.test(bareType(type));

const labelOf = (type: string | undefined): string | undefined =>
  /;\s*charset\s*=\s*"?(?<label>[^\s";]+)/i.exec(type ?? "")?.groups?.["label"];

const decoderOf = (label: string | undefined) => {
  try {
    return label === undefined ? undefined : new TextDecoder(label);
  } catch {
    return undefined;
  }
};

const markOf = (bytes: Uint8Array): string | undefined => {
  const [a, b, c] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  return a === 0xff && b === 0xfe ? "utf-16le" : undefined;
};

const latin1 = (bytes: Uint8Array, count: number): string => Buffer.from(bytes.subarray(0, count)).toString("latin1");

/** Returns the encoding that an HTML page declares in its first bytes. */
const declared = (bytes: Uint8Array): string | undefined =>
  /<meta\s[^>]{0,200}?charset\s*=\s*["']?(?<label>[\w:.-]{1,40})/i.exec(latin1(bytes, 1024))?.groups?.["label"];

/** Decodes a body by its byte order mark, its header, or its own declaration; by UTF-8 otherwise. */
export const textOfBody = (bytes: Uint8Array, type: string | undefined): string => {
  const decoder =
    decoderOf(markOf(bytes)) ?? decoderOf(labelOf(type)) ?? decoderOf(declared(bytes)) ?? new TextDecoder();
  return decoder.decode(bytes);
};

/** Returns true if the bytes contain zeros, which only wide encodings have in text. */
export const looksBinary = (bytes: Uint8Array, type: string | undefined): boolean => {
  const isWide = /^utf-?(?:16|32)|^ucs/i.test(markOf(bytes) ?? labelOf(type) ?? "");
  return !isWide && bytes.subarray(0, 8192).includes(0);
};

export const isHtml = (type: string | undefined, text: string): boolean => {
  const bare = bareType(type ?? "");
  if (bare !== "") return bare === "text/html" || bare === "application/xhtml+xml";
  return /^\s*(?:<!doctype\s+html|<html)[\s>]/i.test(text.slice(0, 1024));
};

const unescaped = (name: string): string => {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
};

/** Returns the last name of a path, without control characters. */
const plainName = (name: string): string | undefined => {
  const last = (name.split(/[/\\]/).at(-1) ?? "").replace(/\p{Cc}/gu, "").slice(0, 255);
  return last === "" || last === "." || last === ".." ? undefined : last;
};

/** Returns the file name from the header, or from the end of the URL. */
export const filenameOf = (disposition: string | undefined, url: URL): string | undefined => {
  const given = disposition ?? "";
  const extended = /filename\*\s*=\s*utf-8'[^']*'(?<name>[^;\s]+)/i.exec(given)?.groups?.["name"];
  if (extended !== undefined) return plainName(unescaped(extended));
  const { quoted, bare } = /filename\s*=\s*(?:"(?<quoted>[^"]*)"|(?<bare>[^;\s]+))/i.exec(given)?.groups ?? {};
  const last = unescaped(url.pathname.split("/").at(-1) ?? "");
  return plainName(quoted ?? bare ?? (last.includes(".") ? last : ""));
};
