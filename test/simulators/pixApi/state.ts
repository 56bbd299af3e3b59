// The institution’s whole state as plain JSON, so that tests can compare it with Quita’s.
import type { Bank } from './bank.ts';
import { type Account, type Charge, type Received, type Return, type Sent, type Terms, termsOf } from './books.ts';
import type { CallbackMode, Delivery } from './callbacks.ts';
import type { Fault } from './faults.ts';
import type { Operation } from './operations.ts';
import type { Settings } from './settings.ts';
import { balanceOf } from './statement.ts';
import { time } from './wire.ts';

type Json<T> = { readonly [K in keyof T]: T[K] extends number ? number : T[K] };
interface ReturnState extends Omit<Json<Return>, 'requestedAt' | 'settledAt'> {
  readonly requestedAt: string;
  readonly settledAt: string | null;
}
export interface ReceivedState extends Omit<Json<Received>, 'at' | 'returns'> {
  readonly paidAt: string;
  readonly returns: readonly ReturnState[];
}
export interface SentState extends Omit<Json<Sent>, 'at' | 'settledAt'> {
  readonly requestedAt: string;
  readonly settledAt: string | null;
}
export interface ChargeState extends Terms {
  readonly txid: string;
  readonly createdAt: string;
  readonly revision: number;
  /** End-to-end ids of the payments received. */
  readonly received: readonly string[];
}
interface ClientState {
  readonly clientId: string;
  readonly pixKeys: readonly string[];
  /** In centavos. */
  readonly balance: number;
  readonly charges: readonly ChargeState[];
  readonly received: readonly ReceivedState[];
  readonly sent: readonly SentState[];
  readonly webhooks: readonly { readonly key: string; readonly url: string; readonly createdAt: string }[];
}
export interface BankState {
  readonly now: string;
  readonly settings: Settings;
  readonly clients: readonly ClientState[];
  readonly callbacks: {
    readonly mode: CallbackMode;
    readonly pending: number;
    readonly counts: Readonly<Record<'announced' | 'accepted' | 'failed' | 'dropped' | 'givenUp', number>>;
    readonly log: readonly Delivery[];
  };
  readonly faults: readonly Fault[];
  readonly calls: Readonly<Partial<Record<Operation, number>>>;
}

const chargeState = (charge: Charge): ChargeState => ({
  txid: charge.txid,
  createdAt: time(charge.createdAt),
  revision: charge.history.length - 1,
  ...termsOf(charge),
  received: charge.received.map(({ endToEndId }) => endToEndId),
});

const settled = (at: number | null): string | null => (at === null ? null : time(at));

const receivedState = ({ at, returns, ...rest }: Received): ReceivedState => ({
  ...rest,
  paidAt: time(at),
  returns: returns.map(({ requestedAt, settledAt, ...given }) => ({
    ...given,
    requestedAt: time(requestedAt),
    settledAt: settled(settledAt),
  })),
});

const sentState = ({ at, settledAt, ...rest }: Sent): SentState => ({
  ...rest,
  requestedAt: time(at),
  settledAt: settled(settledAt),
});

const clientState = (account: Account): ClientState => ({
  clientId: account.client.clientId,
  pixKeys: account.client.pixKeys,
  balance: balanceOf(account),
  charges: account.chargesByTime.all().map(chargeState),
  received: account.receivedByTime.all().map(receivedState),
  sent: account.sentByTime.all().map(sentState),
  webhooks: [...account.webhooks.values()].map(({ key, url, createdAt }) => ({ key, url, createdAt: time(createdAt) })),
});

export const stateOf = (bank: Bank): BankState => ({
  now: time(bank.clock.now()),
  settings: { ...bank.settings },
  clients: [...bank.accounts.values()].map(clientState),
  callbacks: {
    mode: bank.callbacks.mode,
    pending: bank.callbacks.pending,
    counts: { ...bank.callbacks.counts },
    log: [...bank.callbacks.log],
  },
  faults: bank.faults.all().map((fault) => ({ ...fault })),
  calls: { ...bank.calls },
});
