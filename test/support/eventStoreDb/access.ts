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

export class Access {
  readonly #users: Users;

  constructor(users: Users) {
    this.#users = users;
  }

  /** Throws with code 16 when credentials were given and are wrong. */
  authenticate(metadata: Metadata): User | 'anonymous' | 'everybody' {
    if (this.#users === null) return 'everybody';
    const header = metadata.get('authorization')[0]?.toString();
    if (header === undefined) return 'anonymous';
    const text = Buffer.from(header.replace(/^Basic /, ''), 'base64').toString('utf8');
    const separator = text.indexOf(':');
    const user = this.#users[text.slice(0, separator)];
    if (user === undefined || user.password !== text.slice(separator + 1)) throw badCredentials();
    return user;
  }

  /** False when the caller may not touch the stream (`$all` is one). Throws with code 16 like `authenticate`. */
  allows(metadata: Metadata, stream: string): boolean {
    const user = this.authenticate(metadata);
    if (user === 'everybody') return true;
    if (user === 'anonymous') return false;
    // By default whoever may write a stream may write its metadata (`$$stream`), too.
    return user.admin || !isSystem(stream.replace(/^\$\$/, ''));
  }

  /** Throws with code 7 or 16. */
  require(metadata: Metadata, stream: string): void {
    if (!this.allows(metadata, stream)) throw accessDenied();
  }
}
