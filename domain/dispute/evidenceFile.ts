// What a file must be to be evidence in a dispute case (contract.md Dispute case, rule Q6).
import { type Rejection, reject } from '../kernel/rejection.ts';

export const EVIDENCE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'application/pdf'] as const;
export type EvidenceType = (typeof EVIDENCE_TYPES)[number];

/** 10 MB. */
export const EVIDENCE_BYTES_MAX = 10_485_760;
/** Characters, as people count them: code points. */
export const FILE_NAME_MAX = 255;

/** As a merchant declares it. */
export interface DeclaredFile {
  readonly fileName: string;
  /** In bytes. */
  readonly fileSize: number;
  readonly mimeType: string;
}

/** A name is only shown, never used as one; this keeps it harmless where somebody saves the file under it. */
export const isFileName = (text: string): boolean => {
  const { length } = [...text];
  return length >= 1 && length <= FILE_NAME_MAX && !/[/\\\p{Cc}]/u.test(text) && text !== '.' && text !== '..';
};

export const NOT_UPLOADED = reject(
  'EVIDENCE_NOT_UPLOADED',
  'The file has not arrived, or its URL has expired: request a new grant.',
);
export const sizeMismatch = (declared: number, stored: number): Rejection =>
  reject('EVIDENCE_SIZE_MISMATCH', `The stored file has ${stored} bytes, not the ${declared} that were declared.`);
export const NO_EVIDENCE = reject('not_found', 'There is no such evidence.');
