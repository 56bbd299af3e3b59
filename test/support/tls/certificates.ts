// Self-signed certificates for servers in tests, for hooks.example.test, localhost and 127.0.0.1 (see generate.sh).
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

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
/** For elsewhere.example.test only. */
export const ELSEWHERE = load('elsewhere');

/** Returns the path of the certificate file that a client must trust. */
export const caFileOf = (name: 'receiver' | 'expired' | 'elsewhere'): string =>
  fileURLToPath(new URL(`${name}.cert.pem`, import.meta.url));
