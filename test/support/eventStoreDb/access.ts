// Authenticates calls by the basic credentials in their metadata. The client sends them over TLS only.
import type { Metadata } from '@grpc/grpc-js';
import { accessDenied, badCredentials } from './errors.ts';
import { isSystem } from './record.ts';

export interface User {
  readonly password: string;
  /** Whether the user may read $all and streams whose name starts with `$`. */
  readonly admin: boolean;
}
/** Users by name. If null, access control is off, as with `--insecure`. */
export type Users = Readonly<Record<string, User>> | null;

const loginOf = (header: string): { readonly name: string; readonly password: string } => {
  const text = Buffer.from(header.replace(/^Basic /, ''), 'base64').toString('utf8');
  const separator = text.indexOf(':');
  return { name: text.slice(0, separator), password: text.slice(separator + 1) };
};

export class Access {
  readonly #users: Map<string, User> | null;
  /** Other users who may read $all, according to its metadata. */
  readonly #readersOfAll: () => readonly string[];

  constructor(users: Users, readersOfAll: () => readonly string[]) {
    this.#users = users === null ? null : new Map(Object.entries(users));
    this.#readersOfAll = readersOfAll;
  }

  /** Returns false if a user of that name exists. */
  create(name: string, password: string): boolean {
    if (this.#users?.has(name)) return false;
    this.#users?.set(name, { password, admin: false });
    return true;
  }

  /** Returns false if no user of that name exists. */
  resetPassword(name: string, password: string): boolean {
    const user = this.#users?.get(name);
    if (user === undefined) return false;
    this.#users?.set(name, { ...user, password });
    return true;
  }

  /** Throws with code 16 if the call has wrong credentials. */
  authenticate(metadata: Metadata): User | 'anonymous' | 'everybody' {
    if (this.#users === null) return 'everybody';
    const header = metadata.get('authorization')[0]?.toString();
    if (header === undefined) return 'anonymous';
    const { name, password } = loginOf(header);
    const user = this.#users.get(name);
    if (user === undefined || user.password !== password) throw badCredentials();
    return user;
  }

  /** Returns whether the caller may access the stream, which can be `$all`. Throws with code 16 like `authenticate`. */
  allows(metadata: Metadata, stream: string): boolean {
    const user = this.authenticate(metadata);
    if (user === 'everybody') return true;
    if (user === 'anonymous') return false;
    const header = metadata.get('authorization')[0]?.toString() ?? '';
    if (stream === '$all' && this.#readersOfAll().includes(loginOf(header).name)) return true;
    // By default, users who may write a stream may also write its metadata (`$$stream`).
    return user.admin || !isSystem(stream.replace(/^\$\$/, ''));
  }

  /** Throws with code 7 if access is denied, or 16 like `authenticate`. */
  require(metadata: Metadata, stream: string): void {
    if (!this.allows(metadata, stream)) throw accessDenied();
  }
}
