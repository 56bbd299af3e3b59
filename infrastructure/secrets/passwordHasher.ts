// Hashes passwords with argon2id and OWASP's first choice of parameters (Password Storage Cheat Sheet, 2025).
import { hash, verify } from '@node-rs/argon2';
import { type PasswordHasher, PasswordHashingBusy } from '../../application/ports/logins.ts';
import { fairLine } from './fairLine.ts';

export interface HashParameters {
  /** KiB. */
  readonly memoryCost: number;
  readonly timeCost: number;
  readonly parallelism: number;
}
export const OWASP_PARAMETERS: HashParameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The library's number for argon2id; the library exports its name only as a type. */
const ARGON2ID = 2;
const HASH_BYTES = 32;
const SALT_BYTES = 16;

/** Concurrent hashes per process (rule D2). Two of libuv's four threads stay free for files and DNS. */
const AT_ONCE = 2;
/** Most waiting passwords; each takes a few kilobytes. */
const WAITING_MAX = 1_024;

const base64 = (bytes: number): string => Buffer.alloc(bytes).toString('base64').replaceAll('=', '');

/** Returns a hash that matches no known password. Comparing with it takes as long as with a real one. */
const hashOfNobody = ({ memoryCost, timeCost, parallelism }: HashParameters): string =>
  `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${base64(SALT_BYTES)}$${base64(HASH_BYTES)}`;

/** Passwords are compared in Unicode's composed form (NFC), so that the same text typed on two systems matches. */
const bytesOf = (password: string): string => password.normalize('NFC');

export const passwordHasher = (
  parameters: HashParameters = OWASP_PARAMETERS,
  { atOnce = AT_ONCE, waitingMax = WAITING_MAX } = {},
): PasswordHasher => {
  const inTurn = fairLine(
    atOnce,
    waitingMax,
    () =>
      new PasswordHashingBusy(
        `${waitingMax} passwords are waiting to be hashed, most of them for one user or from one address`,
      ),
  );
  const nobody = hashOfNobody(parameters);
  return {
    hash: (password, asker) =>
      inTurn(asker, () => hash(bytesOf(password), { algorithm: ARGON2ID, outputLen: HASH_BYTES, ...parameters })),
    isRight: async (password, stored, asker) => {
      const isSame = await inTurn(asker, () => verify(stored ?? nobody, bytesOf(password)));
      return isSame && stored !== null;
    },
  };
};
