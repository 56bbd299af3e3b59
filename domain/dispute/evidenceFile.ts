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
  const isPath = text === '.' || text === '..';
  return length >= 1 && length <= FILE_NAME_MAX && text.isWellFormed() && !FORBIDDEN.test(text) && !isPath;
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

/** The rule of `isFileName`, after a file's name. */
export const FILE_NAME_RULE =
  'must have 1 to 255 characters, must not contain a slash, a backslash, a control or text-direction character, and must not be . or ..';

const isEvidenceType = (type: string): type is EvidenceType => (EVIDENCE_TYPES as readonly string[]).includes(type);

/** Returns why a file of a form is refused before it is read, or null. */
export const formFileRefusal = ({ fileName, mimeType }: Omit<DeclaredFile, 'fileSize'>): Rejection | null => {
  if (!isFileName(fileName)) return reject('invalid_file_name', `The file name ${FILE_NAME_RULE}.`);
  if (!isEvidenceType(mimeType))
    return reject('invalid_mime_type', `The file must be one of ${EVIDENCE_TYPES.join(', ')}.`);
  return fitsType(fileName, mimeType)
    ? null
    : reject('invalid_file_name', `The file name has an extension that doesn’t match ${mimeType}.`);
};

export const FILE_TOO_LARGE = reject(
  'invalid_file_size',
  `The file must have 1 to ${EVIDENCE_BYTES_MAX.toLocaleString('en')} bytes.`,
);

export const NOT_UPLOADED = reject(
  'EVIDENCE_NOT_UPLOADED',
  'The file was not uploaded, or its upload URL has expired. Request a new upload.',
);
export const sizeMismatch = (declared: number, stored: number): Rejection =>
  reject('EVIDENCE_SIZE_MISMATCH', `The uploaded file has ${stored} bytes instead of the declared ${declared}.`);
export const NO_EVIDENCE = reject('not_found', 'There is no such evidence.');
