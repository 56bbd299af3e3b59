// Who is calling: basic credentials in the call's metadata. The client sends them over TLS only.
import type { Metadata } from '@grpc/grpc-js';
import { accessDenied, badCredentials } from './errors.ts';
import { isSystem } from './record.ts';

export interface User {
  readonly password: string;
  /** May read $all and what begins with `$`. */
  readonly admin: boolean;
}
/** By name. null: everybody may do everything, as with `--insecure`. */
export type Users = Readonly<Record<string, User>> | null;

const loginOf = (header: string): { readonly name: string; readonly password: string } => {
  const text = Buffer.from(header.replace(/^Basic /, ''), 'base64').toString('utf8');
  const separator = text.indexOf(':');
  return { name: text.slice(0, separator), password: text.slice(separator + 1) };
};

export class Access {
  readonly #users: Map<string, User> | null;
  /** Who else may read $all: what the metadata of $all says. */
  readonly #readersOfAll: () => readonly string[];

  constructor(users: Users, readersOfAll: () => readonly string[]) {
    this.#users = users === null ? null : new Map(Object.entries(users));
    this.#readersOfAll = readersOfAll;
  }

  /** False when there is one of that name. */
  create(name: string, password: string): boolean {
    if (this.#users?.has(name)) return false;
    this.#users?.set(name, { password, admin: false });
    return true;
  }

  /** False when there is none of that name. */
  resetPassword(name: string, password: string): boolean {
    const user = this.#users?.get(name);
    if (user === undefined) return false;
    this.#users?.set(name, { ...user, password });
    return true;
  }

  /** Throws with code 16 when credentials were given and are wrong. */
  authenticate(metadata: Metadata): User | 'anonymous' | 'everybody' {
    if (this.#users === null) return 'everybody';
    const header = metadata.get('authorization')[0]?.toString();
    if (header === undefined) return 'anonymous';
    const { name, password } = loginOf(header);
    const user = this.#users.get(name);
    if (user === undefined || user.password !== password) throw badCredentials();
    return user;
  }

  /** False when the caller may not touch the stream (`$all` is one). Throws with code 16 like `authenticate`. */
  allows(metadata: Metadata, stream: string): boolean {
    const user = this.authenticate(metadata);
    if (user === 'everybody') return true;
    if (user === 'anonymous') return false;
    const header = metadata.get('authorization')[0]?.toString() ?? '';
    if (stream === '$all' && this.#readersOfAll().includes(loginOf(header).name)) return true;
    // By default whoever may write a stream may write its metadata (`$$stream`), too.
    return user.admin || !isSystem(stream.replace(/^\$\$/, ''));
  }

  /** Throws with code 7 or 16. */
  require(metadata: Metadata, stream: string): void {
    if (!this.allows(metadata, stream)) throw accessDenied();
  }
}
