// The institution: its accounts and everything that happens to them. The API and the control API operate on it.
import { Account, type ClientSpec, type Received, type Return, type Sent } from './books.ts';
import { Callbacks, type CallbackTls } from './callbacks.ts';
import { BankClock } from './clock.ts';
import { Faults } from './faults.ts';
import type { Operation } from './operations.ts';
import { Pauses } from './pauses.ts';
import { DEFAULT_SETTINGS, type Settings } from './settings.ts';
import { Tokens } from './tokens.ts';
import { announcedWire } from './wire.ts';
import { sentAnnouncement } from './wirePayout.ts';

/** The reason for a failed return or Pix-out, unless the control API gives another. */
const RETURN_REFUSED = 'Saldo insuficiente para realizar a devolução.';
const PAYOUT_REFUSED = 'Número da agência e/ou conta transacional do usuário recebedor inexistente ou inválido';

export class Bank {
  readonly clock = new BankClock();
  readonly pauses = new Pauses();
  readonly faults = new Faults();
  readonly settings: Settings;
  readonly accounts: ReadonlyMap<string, Account>;
  readonly tokens: Tokens;
  readonly callbacks: Callbacks;
  /** Number of calls of each operation that arrived, including faulty ones. */
  readonly calls: Partial<Record<Operation, number>> = {};
  #watchers = new Set<() => void>();
  #locations = 0;

  constructor(clients: readonly ClientSpec[], settings: Partial<Settings>, tls: CallbackTls) {
    this.settings = { ...DEFAULT_SETTINGS, ...settings };
    this.accounts = new Map(clients.map((client) => [client.clientId, new Account(client)]));
    this.tokens = new Tokens(this.accounts, this.settings);
    this.callbacks = new Callbacks(this.settings, this.pauses, () => this.clock.now(), tls);
  }

  count(operation: Operation): void {
    this.calls[operation] = (this.calls[operation] ?? 0) + 1;
    for (const look of [...this.#watchers]) look();
  }

  /** Resolves when at least `times` calls of the operation have arrived since the start. */
  whenCalled(operation: Operation, times: number): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if ((this.calls[operation] ?? 0) < times) return;
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }

  nextLocationId(): number {
    this.#locations += 1;
    return this.#locations;
  }

  /** Records an incoming Pix. */
  receive(account: Account, received: Received): void {
    account.received.set(received.endToEndId, received);
    account.receivedByTime.add(received);
    const { at, endToEndId } = received;
    account.book({ at, kind: 'received', amount: received.amount, endToEndId });
    account.book({ at, kind: 'fee', amount: -this.settings.feeReceived, endToEndId });
  }

  /** Sends the present state of a Pix to the webhook of its key, if there is one. */
  announce(account: Account, received: Received): void {
    const webhook = account.webhooks.get(received.key);
    if (webhook === undefined || (received.txid === null && !this.settings.callbacksWithoutTxid)) return;
    this.callbacks.announce(webhook.url, announcedWire(received, this.settings));
  }

  settleReturn(account: Account, received: Received, given: Return, isDone: boolean, reason: string | null): void {
    const at = this.clock.now();
    given.status = isDone ? 'DEVOLVIDO' : 'NAO_REALIZADO';
    given.reason = isDone ? reason : (reason ?? RETURN_REFUSED);
    if (isDone) {
      given.settledAt = at;
      account.book({ at, kind: 'returned', amount: -given.amount, endToEndId: received.endToEndId });
    }
    this.announce(account, received);
  }

  settlePayout(account: Account, sent: Sent, isDone: boolean, reason: string | null): void {
    const at = this.clock.now();
    const { endToEndId } = sent;
    sent.status = isDone ? 'REALIZADO' : 'NAO_REALIZADO';
    sent.reason = isDone ? null : (reason ?? PAYOUT_REFUSED);
    if (isDone) {
      sent.settledAt = at;
      account.book({ at, kind: 'paidOut', amount: -sent.amount, endToEndId });
      account.book({ at, kind: 'fee', amount: -this.settings.feeSent, endToEndId });
    }
    const webhook = account.webhooks.get(sent.fromKey);
    if (webhook !== undefined) this.callbacks.announce(webhook.url, sentAnnouncement(sent));
  }

  async close(): Promise<void> {
    this.pauses.close();
    await this.callbacks.close();
  }
}
