// A folder that an audit export is written into. Paths are relative and use `/`. It survives a kill at any moment: a file is complete or
// absent, and appended lines are complete after `open`.

/** A file of lines. */
export interface LineFile {
  /** The last complete line, without its newline; null in an empty file. */
  readonly last: string | null;
  append(lines: Buffer): Promise<void>;
  close(): Promise<void>;
}

export interface ExportFolder {
  /** Returns the content, or null if there is no such file. */
  read(path: string): Promise<string | null>;
  /** Returns the length in bytes, or null if there is no such file. */
  lengthOf(path: string): Promise<number | null>;
  write(path: string, content: Buffer | string): Promise<void>;
  /** Opens a file to append lines, which must be shorter than 1 MiB. Drops an incomplete last line. */
  open(path: string): Promise<LineFile>;
  /** Returns the names in the folder itself; none if it does not exist. */
  names(): Promise<readonly string[]>;
  /** Removes a file or a folder with its content, if there is one. */
  remove(path: string): Promise<void>;
}
