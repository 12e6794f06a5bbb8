/** Floats as a flow reads and writes them: decimal text, the same on every platform. */

const finite = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const special = /^(?<sign>[+-]?)(?:(?<infinite>inf|infinity)|nan)$/i;

/** A finite decimal number, without spaces around it. */
export const finiteOf = (text: string): number | undefined => {
  const value = finite.test(text) ? Number(text) : NaN;
  return Number.isFinite(value) ? value : undefined;
};

/** Any float: also what is infinite, too large, or not a number. */
export const floatOf = (text: string): number | undefined => {
  if (finite.test(text)) return Number(text);
  const groups = special.exec(text)?.groups;
  if (groups === undefined) return undefined;
  if (groups["infinite"] === undefined) return NaN;
  return groups["sign"] === "-" ? -Infinity : Infinity;
};

/** The shortest digits that read back as the number, and where the point stands among them. */
const digitsOf = (value: number): { readonly digits: string; readonly point: number } => {
  const [mantissa = "", exponent = "0"] = Math.abs(value).toExponential().split("e");
  return { digits: mantissa.replace(".", ""), point: Number(exponent) + 1 };
};

const placed = ({ digits, point }: ReturnType<typeof digitsOf>): string => {
  if (point <= 0) return `0.${"0".repeat(-point)}${digits}`;
  if (point >= digits.length) return digits + "0".repeat(point - digits.length);
  return `${digits.slice(0, point)}.${digits.slice(point)}`;
};

/** A float without an exponent at any size; what is integral has no point. */
export const decimalText = (value: number): string => {
  if (Number.isNaN(value)) return "NaN";
  const sign = value < 0 ? "-" : "";
  if (!Number.isFinite(value)) return `${sign}inf`;
  return value === 0 ? "0" : sign + placed(digitsOf(value));
};

/** A finite float as JSON that shows it is one: `5.0`, `1e21`. */
export const floatJson = (value: number): string => {
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const sign = value < 0 ? "-" : "";
  const parts = digitsOf(value);
  const { digits, point } = parts;
  if (point > 16 || point <= -5) {
    const mantissa = digits.length === 1 ? digits : `${digits.slice(0, 1)}.${digits.slice(1)}`;
    return `${sign}${mantissa}e${point - 1}`;
  }
  return `${sign}${placed(parts)}${point >= digits.length ? ".0" : ""}`;
};
