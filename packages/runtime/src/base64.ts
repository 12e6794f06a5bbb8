/** Bytes as text, in what every platform has. */

const chunk = 0x8000;

export const base64Of = (bytes: Uint8Array): string => {
  let text = "";
  for (let from = 0; from < bytes.length; from += chunk)
    text += String.fromCharCode(...bytes.subarray(from, from + chunk));
  return btoa(text);
};

/** Throws where the text is no base64. */
export const bytesOf = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
