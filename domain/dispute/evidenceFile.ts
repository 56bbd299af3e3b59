// Requirements for evidence files of dispute cases (contract.md Dispute case, rule Q6).
import { type Rejection, reject } from '../kernel/rejection.ts';

export const EVIDENCE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'application/pdf'] as const;
export type EvidenceType = (typeof EVIDENCE_TYPES)[number];

/** 10 MB. */
export const EVIDENCE_BYTES_MAX = 10_485_760;
/** In code points. */
export const FILE_NAME_MAX = 255;

/** The file as the merchant declares it. */
export interface DeclaredFile {
  readonly fileName: string;
  /** In bytes. */
  readonly fileSize: number;
  readonly mimeType: string;
}

/**
 * Slashes change the path. Control characters and line separators break lists and headers. Direction characters can make `gnp.exe` look
 * like `exe.png`.
 */
const FORBIDDEN = /[/\\\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;

/** Returns whether the text is an allowed file name. Quita only displays it; the check protects people who save the file. */
export const isFileName = (text: string): boolean => {
  const { length } = [...text];
  return length >= 1 && length <= FILE_NAME_MAX && !FORBIDDEN.test(text) && text !== '.' && text !== '..';
};

const EXTENSIONS: { readonly [Type in EvidenceType]: readonly string[] } = {
  'image/png': ['png'],
  'image/jpeg': ['jpg', 'jpeg', 'jpe', 'jfif'],
  'image/webp': ['webp'],
  'image/gif': ['gif'],
  'application/pdf': ['pdf'],
};

/** Some systems drop trailing dots and spaces, so `a.exe.` means `a.exe`. An extension of digits only is part of a number. */
const EXTENSION = /\.([a-z0-9]*[a-z][a-z0-9]*)[. ]*$/i;

/** Returns whether the name's extension belongs to the type. A name without an extension fits every type. */
export const fitsType = (fileName: string, type: EvidenceType): boolean => {
  const extension = EXTENSION.exec(fileName)?.[1]?.toLowerCase();
  return extension === undefined || EXTENSIONS[type].includes(extension);
};

export const NOT_UPLOADED = reject(
  'EVIDENCE_NOT_UPLOADED',
  'The file was not uploaded, or its upload URL has expired. Request a new upload.',
);
export const sizeMismatch = (declared: number, stored: number): Rejection =>
  reject('EVIDENCE_SIZE_MISMATCH', `The uploaded file has ${stored} bytes instead of the declared ${declared}.`);
export const NO_EVIDENCE = reject('not_found', 'There is no such evidence.');
