/** The files of a session, as a port: whoever keeps them fills it in. Paths are those of `path.ts`. */

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

/** What a store refuses, and why: a model may read it. */
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
  /** `expected`: the hash of what has to be there; undefined where anything may be. Whether it was written. */
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
