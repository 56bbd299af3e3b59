// Whether a log is the one in use. `npm run migrate-events` copies a log from one store to another: from then on there are two with
// the same events, and only one of them may ever be written to.
import { LogNotInUse } from '../../application/ports/eventStore.ts';

/** Another log. */
export interface LogName {
  readonly storeId: string;
  /** `esdb://…`, `kurrentdb://…` or `postgres://…`, without a password. */
  readonly address: string;
}

/**
 * `sealed`: it is being copied to `other`. `moved`: that is done, `other` took its place. `copy`: it is an unfinished copy of `other`.
 * Of these only `sealed` goes back to `inUse` by the operator's will.
 */
export type LogState =
  | { readonly kind: 'inUse' }
  | { readonly kind: 'sealed' | 'moved' | 'copy'; readonly other: LogName };

export const IN_USE: LogState = { kind: 'inUse' };

const isEventStoreDb = (address: string): boolean => /^(esdb|kurrentdb)/.test(address);

/** How the program is started on the log at that address. */
export const startOn = (address: string): string =>
  isEventStoreDb(address) ? `with EVENTSTORE_URL=${address}` : 'without EVENTSTORE_URL';
const startThere = (address: string): string =>
  `start the program ${isEventStoreDb(address) ? 'with EVENTSTORE_URL set to it' : 'without EVENTSTORE_URL'}`;

const says = (use: Exclude<LogState, { kind: 'inUse' }>): string => {
  const { address } = use.other;
  switch (use.kind) {
    case 'moved':
      return `this event log has moved to ${address}: ${startThere(address)}`;
    case 'sealed':
      return `this event log is sealed, it is being copied to ${address}: finish that with npm run migrate-events, or give it up with its --unseal`;
    case 'copy':
      return `this event log is an unfinished copy of ${address}: finish it with npm run migrate-events, or ${startThere(address)}`;
  }
};

/** null: it may be written to. */
export const refusalOf = (use: LogState): LogNotInUse | null =>
  use.kind === 'inUse' ? null : new LogNotInUse(says(use));
