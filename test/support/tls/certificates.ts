// Self-signed certificates for receivers in tests, for hooks.example.test, localhost and 127.0.0.1 (see generate.sh).
import { readFileSync } from 'node:fs';

export interface Identity {
  readonly key: string;
  readonly cert: string;
}

const load = (name: string): Identity => ({
  key: readFileSync(new URL(`${name}.key.pem`, import.meta.url), 'utf8'),
  cert: readFileSync(new URL(`${name}.cert.pem`, import.meta.url), 'utf8'),
});

/** Valid from 2020 to 2120. */
export const RECEIVER = load('receiver');
/** Expired in 2020. */
export const EXPIRED = load('expired');
