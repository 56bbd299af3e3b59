// The stand-alone verifier of audit exports, which auditors run without Quita, with types.
import * as verifier from '../../../docs/auditors/verify.mjs';

/** Trusted public keys (default: those that the export names), and files of checkpoints received before. */
export interface Trust {
  readonly keys: readonly string[];
  readonly checkpoints: readonly string[];
}

/** Escapes what could control a terminal or begin a line. */
export const printable = verifier.printable as unknown as (text: string) => string;

/** Returns the faults of an export, and a summary of the verification. Throws if it can't be read. */
export const verifyExport = verifier.verifyExport as unknown as (
  folder: string,
  trust: Trust,
) => Promise<{ readonly faults: readonly string[]; readonly summary: string }>;
