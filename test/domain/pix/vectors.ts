// The test vectors of test/vectors/pix, collected from the central bank and from PSPs.
import { readFileSync } from 'node:fs';

export interface BrCodeVector {
  readonly id: string;
  readonly kind?: string;
  readonly code: string;
  readonly crc_ok: boolean;
  readonly tlv_ok: boolean;
  readonly tlv: readonly (readonly [string, string])[];
  readonly sub: Readonly<Record<string, readonly (readonly [string, string])[]>>;
}
interface EndToEndVectors {
  readonly regex: string;
  readonly vectors: readonly { readonly v: string; readonly strict: boolean }[];
}
interface TaxIdVectors {
  readonly cpf: readonly { readonly v: string; readonly valid: boolean }[];
  readonly cnpj: readonly { readonly v: string; readonly valid: boolean }[];
}

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../vectors/pix/${name}-vectors.json`, import.meta.url), 'utf8'));

export const brCodeVectors = read('brcode') as readonly BrCodeVector[];
export const endToEndVectors = read('e2eid') as EndToEndVectors;
export const taxIdVectors = read('taxid') as TaxIdVectors;
