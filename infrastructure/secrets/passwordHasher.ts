// Hashing passwords: argon2id with the parameters that OWASP names first (Password Storage Cheat Sheet, 2025).
import { hash, verify } from '@node-rs/argon2';
import { type PasswordHasher, PasswordHashingBusy } from '../../application/ports/credentials.ts';

export interface HashParameters {
  /** KiB. */
  readonly memoryCost: number;
  readonly timeCost: number;
  readonly parallelism: number;
}
export const OWASP_PARAMETERS: HashParameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The library's number for argon2id: its name is a type only. */
const ARGON2ID = 2;
const HASH_BYTES = 32;
const SALT_BYTES = 16;

/** At once in a process (rule D2): of libuv's four threads two stay free for files and names. */
const AT_ONCE = 2;
/** A hash takes some 30 ms, so the last one in line waits half a second. */
const WAITING_MAX = 32;

const base64 = (bytes: number): string => Buffer.alloc(bytes).toString('base64').replaceAll('=', '');

/** A hash that no password has been found for: comparing with it takes as long as with a real one. */
const hashOfNobody = ({ memoryCost, timeCost, parallelism }: HashParameters): string =>
  `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${base64(SALT_BYTES)}$${base64(HASH_BYTES)}`;

/** Returns a function that runs so many at once, the others in their order. It throws PasswordHashingBusy when too many wait. */
const inLine = (atOnce: number, waitingMax: number) => {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running < atOnce) running += 1;
    else if (waiting.length < waitingMax) await new Promise<void>((resolve) => waiting.push(resolve));
    else throw new PasswordHashingBusy(`${waitingMax} passwords wait to be hashed`);
    try {
      return await work();
    } finally {
      // The place goes to whoever waits longest.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
};

/** Passwords are compared in Unicode's composed form (NFC): the same text typed on two systems is one password. */
const bytesOf = (password: string): string => password.normalize('NFC');

export const passwordHasher = (
  parameters: HashParameters = OWASP_PARAMETERS,
  { atOnce = AT_ONCE, waitingMax = WAITING_MAX } = {},
): PasswordHasher => {
  const inTurn = inLine(atOnce, waitingMax);
  const nobody = hashOfNobody(parameters);
  return {
    hash: (password) =>
      inTurn(() => hash(bytesOf(password), { algorithm: ARGON2ID, outputLen: HASH_BYTES, ...parameters })),
    isRight: async (password, stored) => {
      const isSame = await inTurn(() => verify(stored ?? nobody, bytesOf(password)));
      return isSame && stored !== null;
    },
  };
};
