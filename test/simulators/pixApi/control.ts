// Actions of payers, other banks and the institution, on demand. Amounts are integers of centavos. Times are ISO 8601 texts.
import type { Bank } from './bank.ts';
import {
  type Account,
  type Charge,
  NATURES,
  type Received,
  type Return,
  returnedOf,
  type Sent,
  setStatus,
  termsOf,
} from './books.ts';
import type { CallbackMode } from './callbacks.ts';
import type { Fault, FaultOrder } from './faults.ts';
import { letters, receivedId, returnIdAt } from './ids.ts';
import type { Operation } from './operations.ts';
import {
  amountFrom,
  type ChargePayment,
  ControlError,
  checkFault,
  DEFAULT_PAYER,
  type ForeignReturn,
  isDone,
  type KeyPayment,
  type ManyPayments,
  timeFrom,
} from './orders.ts';
import { type Settings, settingsProblem } from './settings.ts';
import { type BankState, stateOf } from './state.ts';
import { balanceOf, type Statement, statementOf } from './statement.ts';
import { time } from './wire.ts';

/** The typed control actions. The control API offers the same over HTTP. */
export class Control {
  readonly #bank: Bank;

  constructor(bank: Bank) {
    this.#bank = bank;
  }

  /** Pays a charge. Returns the end-to-end id. Throws ControlError if the charge can no longer be paid, unless `force` is set. */
  pay(txid: string, { force = false, clientId, ...payment }: ChargePayment = {}): string {
    const [account, charge] = this.#charge(txid, clientId);
    const { amount, key, status, lifetimeSeconds } = termsOf(charge);
    const received = this.#received({ ...payment, amount: payment.amount ?? amount, txid }, key);
    if (!force && status !== 'ATIVA') throw new ControlError(409, `The charge is ${status}.`);
    if (!force && received.at > charge.createdAt + lifetimeSeconds * 1_000)
      throw new ControlError(409, 'The charge has expired.');
    charge.received.push(received);
    if (status === 'ATIVA') setStatus(charge, 'CONCLUIDA');
    return this.#arrive(account, received);
  }

  /** Sends a Pix to the key, not to a charge. By the standard, a Pix without txid causes no callback. Returns the end-to-end id. */
  payKey(key: string, payment: KeyPayment): string {
    return this.#arrive(this.#accountOfKey(key), this.#received(payment, key));
  }

  /** Records many incoming Pix for a key, without callbacks. */
  receiveMany(key: string, { count, amount, from, to }: ManyPayments): void {
    const account = this.#accountOfKey(key);
    const [start, end] = [timeFrom(from), timeFrom(to)];
    for (let i = 0; i < count; i++) {
      const at = start + Math.round(((end - start) * i) / Math.max(1, count - 1));
      this.#bank.receive(account, this.#received({ amount, paidAt: time(at), txid: letters(26) }, key));
    }
  }

  /** Removes a charge on behalf of the institution. */
  remove(txid: string, clientId?: string): void {
    const [, charge] = this.#charge(txid, clientId);
    if (termsOf(charge).status !== 'ATIVA') throw new ControlError(409, `The charge is ${termsOf(charge).status}.`);
    setStatus(charge, 'REMOVIDA_PELO_PSP');
  }

  /** Makes a return that Quita didn’t request: in the institution’s app (ORIGINAL) or by its dispute process (MED_…). Returns its id. */
  returnPix(endToEndId: string, { amount, nature = 'ORIGINAL', reason }: ForeignReturn = {}): string {
    const [account, received] = this.#pix(endToEndId);
    const left = received.amount - returnedOf(received);
    if (!NATURES.includes(nature)) throw new ControlError(400, `"nature" must be one of: ${NATURES.join(', ')}.`);
    if (amountFrom(amount ?? left) > left) throw new ControlError(409, `Only ${left} can still be returned.`);
    const now = this.#bank.clock.now();
    const given: Return = {
      id: letters(32),
      returnId: returnIdAt(now),
      amount: amount ?? left,
      nature,
      note: null,
      requestedAt: now,
      isForeign: true,
      status: 'EM_PROCESSAMENTO',
      settledAt: null,
      reason: null,
    };
    received.returns.push(given);
    this.#bank.settleReturn(account, received, given, true, reason ?? null);
    return given.id;
  }

  /** Decides a return that is EM_PROCESSAMENTO. */
  decideReturn(endToEndId: string, id: string, outcome: 'done' | 'refused', reason?: string): void {
    const [account, received] = this.#pix(endToEndId);
    const given = received.returns.find((other) => other.id === id);
    if (given === undefined) throw new ControlError(404, 'There is no such return.');
    if (given.status !== 'EM_PROCESSAMENTO') throw new ControlError(409, `The return is ${given.status}.`);
    this.#bank.settleReturn(account, received, given, isDone(outcome), reason ?? null);
  }

  /** Decides a Pix-out that is EM_PROCESSAMENTO. */
  decidePayout(id: string, outcome: 'done' | 'refused', reason?: string): void {
    const [account, sent] = this.#find<Sent>('Pix-out', ({ sent }) => sent.get(id));
    if (sent.status !== 'EM_PROCESSAMENTO') throw new ControlError(409, `The Pix-out is ${sent.status}.`);
    this.#bank.settlePayout(account, sent, isDone(outcome), reason ?? null);
  }

  set(change: Partial<Settings>): Settings {
    const wrong = settingsProblem(change);
    if (wrong !== null) throw new ControlError(400, wrong);
    return Object.assign(this.#bank.settings, change);
  }

  /** Sets how far the institution’s clock is ahead of this machine’s. Negative if it is behind. */
  setClock(offsetMs: number): void {
    if (!Number.isSafeInteger(offsetMs)) throw new ControlError(400, '"offsetMs" must be an integer.');
    this.#bank.clock.offsetMs = offsetMs;
  }

  /** Returns the institution's time. */
  now(): string {
    return time(this.#bank.clock.now());
  }

  /** Orders a fault. Throws ControlError for an unknown operation or kind. */
  fault(order: FaultOrder): Fault {
    checkFault(order);
    return this.#bank.faults.add(order);
  }

  clearFaults(): void {
    this.#bank.faults.clear();
  }

  /** Expires all tokens, so that the next call of each client fails with 401. */
  expireTokens(): void {
    this.#bank.tokens.expireAll();
  }

  /** Keeps callbacks until `resumeCallbacks` or `flushCallbacks`. */
  pauseCallbacks(): void {
    this.#mode('paused');
  }
  /** Discards callbacks until `resumeCallbacks`. */
  dropCallbacks(): void {
    this.#mode('dropping');
  }
  resumeCallbacks(): void {
    this.#mode('delivering');
  }
  /** Sends each pending callback once, without waiting for its pause, in any mode. */
  flushCallbacks(): Promise<{ readonly accepted: number; readonly pending: number }> {
    return this.#bank.callbacks.flush();
  }
  /** Sends the callback of a Pix again, with its present state. */
  announceAgain(endToEndId: string): void {
    this.#bank.announce(...this.#pix(endToEndId));
  }

  state(): BankState {
    return stateOf(this.#bank);
  }
  /** Returns the balance in centavos. */
  balance(clientId?: string): number {
    return balanceOf(this.#account(clientId));
  }
  /** Returns the statement of a calendar day in São Paulo, `yyyy-mm-dd`. */
  statement(day: string, clientId?: string): Statement {
    if (!/^\d{4}-\d{2}-\d{2}$/.test(day) || Number.isNaN(Date.parse(day)))
      throw new ControlError(400, `"${day}" is not a day.`);
    return statementOf(this.#account(clientId), day);
  }

  /** Returns how many calls of the operation have arrived. */
  calls(operation: Operation): number {
    return this.#bank.calls[operation] ?? 0;
  }
  /** Resolves when at least `times` calls of the operation have arrived since the start. */
  whenCalled(operation: Operation, times = 1): Promise<void> {
    return this.#bank.whenCalled(operation, times);
  }
  /** Resolves when at least `count` Pix have been announced and accepted since the start. */
  whenAccepted(count: number): Promise<void> {
    return this.#bank.callbacks.until(() => this.#bank.callbacks.counts.accepted >= count);
  }

  #mode(mode: CallbackMode): void {
    this.#bank.callbacks.setMode(mode);
  }

  #arrive(account: Account, received: Received): string {
    this.#bank.receive(account, received);
    this.#bank.announce(account, received);
    return received.endToEndId;
  }

  #received({ amount, withdrawal = 0, payer, paidAt, note, txid, showPayer }: KeyPayment, key: string): Received {
    const at = paidAt === undefined ? this.#bank.clock.now() : timeFrom(paidAt);
    return {
      endToEndId: receivedId(at),
      txid: txid ?? null,
      key,
      amount: amountFrom(amount),
      withdrawal: amountFrom(withdrawal, 0),
      at,
      payer: { ...DEFAULT_PAYER, ...payer },
      note: note ?? null,
      showPayer: showPayer ?? null,
      returns: [],
    };
  }

  /** Throws ControlError unless exactly one account has it. */
  #find<T>(what: string, look: (account: Account) => T | undefined, clientId?: string): readonly [Account, T] {
    const found = [...this.#bank.accounts.values()].flatMap((account) => {
      const one = clientId === undefined || account.client.clientId === clientId ? look(account) : undefined;
      return one === undefined ? [] : [[account, one] as const];
    });
    if (found.length > 1) throw new ControlError(409, `Several clients have this ${what}: "clientId" must say whose.`);
    return found[0] ?? this.#absent(what);
  }
  #absent(what: string): never {
    throw new ControlError(404, `There is no such ${what}.`);
  }
  #charge(txid: string, clientId?: string): readonly [Account, Charge] {
    return this.#find('charge', ({ charges }) => charges.get(txid), clientId);
  }
  #pix(endToEndId: string): readonly [Account, Received] {
    return this.#find('Pix', ({ received }) => received.get(endToEndId));
  }
  #accountOfKey(key: string): Account {
    return this.#find('Pix key', ({ client }) => (client.pixKeys.includes(key) ? true : undefined))[0];
  }
  /** Returns the account of the first client if `clientId` is omitted. */
  #account(clientId: string | undefined): Account {
    const { accounts } = this.#bank;
    return accounts.get(clientId ?? [...accounts.keys()][0] ?? '') ?? this.#absent('client');
  }
}
