/** The port for a session's files; a host implements it. Paths have the forms of `path.ts`. */

export interface StoredFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly encoding: "text" | "base64";
  readonly isReadonly: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface Entry {
  readonly path: string;
  readonly name: string;
  readonly isDirectory: boolean;
  readonly isReadonly: boolean;
  readonly size: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface Match {
  readonly path: string;
  readonly line_number: number;
  readonly line: string;
}

/** A refusal of a store. A model may read its message. */
export class FileError extends Error {
  readonly kind:
    | "readonly"
    | "is_directory"
    | "not_directory"
    | "not_empty"
    | "not_found"
    | "path"
    | "size"
    | "pattern";

  constructor(kind: FileError["kind"], message: string) {
    super(message);
    this.name = "FileError";
    this.kind = kind;
  }
}

export interface FileStore {
  readonly read: (path: string) => Promise<StoredFile | undefined>;
  /** Resolves with false, and writes nothing, if the file does not hold the `expected` bytes. */
  readonly write: (path: string, bytes: Uint8Array, how: WriteOptions) => Promise<boolean>;
  readonly delete: (path: string, recursive: boolean) => Promise<boolean>;
  readonly list: (path: string) => Promise<readonly Entry[]>;
  readonly stat: (path: string) => Promise<Entry | undefined>;
  readonly grep: (pattern: string, pathPattern?: string) => Promise<readonly Match[]>;
  readonly createDirectory: (path: string) => Promise<void>;
}

export interface WriteOptions {
  readonly encoding: "text" | "base64";
  readonly expected?: Uint8Array;
}
