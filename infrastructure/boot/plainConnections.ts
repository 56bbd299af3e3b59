// What would travel between machines where anybody on the way can read it (rule S6): passwords, keys, payers' documents.
import pg from 'pg';
import { isLoopbackHost } from '../../http/kernel/address.ts';
import type { ConnectionSettings } from '../eventStore/eventStoreDb/eventStoreDb.ts';

const isHere = (host: string): boolean => host.startsWith('/') || isLoopbackHost(host);

/** These modes may go on without TLS, or with whoever answers: the client's own reading of them changes with its next version. */
const UNPROVEN_MODES = ['prefer', 'allow', 'no-verify'];

/**
 * Whether the password of a Postgres URL would go to another host in the clear, or to one whose certificate nobody looks at, as `pg`
 * reads the URL; `sslmode` as it was written. Throws what `pg` throws when it can't.
 */
export const isPlainPostgres = (url: string, sslmode: string): boolean => {
  const { host, ssl } = new pg.Client({ connectionString: url }) as unknown as {
    host: string;
    ssl: boolean | { rejectUnauthorized?: boolean };
  };
  if (isHere(host)) return false;
  return !ssl || (typeof ssl === 'object' && ssl.rejectUnauthorized === false) || UNPROVEN_MODES.includes(sslmode);
};

export const isPlainEventStore = ({ tls, hosts }: ConnectionSettings): boolean =>
  tls === null && !hosts.every(({ address }) => isHere(address));
