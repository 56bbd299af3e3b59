// Instruments: issued in the request of a charge, by a job for a payment (P4), and brought to an end by itself when that was cut
// off (K7).
import type { ChargeTerms, Failure } from '../../domain/charge/charge.ts';
import { pendingMethods } from '../../domain/charge/charge.ts';
import { METHOD_RULES, type PaymentMethod } from '../../domain/charge/methods.ts';
import { streamName } from '../../domain/kernel/event.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { addMillis, MINUTE_MS, SECOND_MS, type Timestamp } from '../../domain/kernel/time.ts';
import { type Issuance, recordIssuances } from '../../domain/payment/create.ts';
import { type ExistingPayment, exists, type PaymentState } from '../../domain/payment/payment.ts';
import type { Accounts } from '../accounts.ts';
import { PAYMENT } from '../aggregates.ts';
import { byProcess } from '../because.ts';
import type { CommandHandler } from '../commandHandler.ts';
import { isOf } from '../ports/loggedEvent.ts';
import type {
  InstrumentOutcome,
  InstrumentRequest,
  PaymentProvider,
  PaymentProviders,
} from '../ports/paymentProvider.ts';
import { UnknownAtProvider } from '../ports/paymentProvider.ts';
import { job, type ProcessManager } from '../ports/processManager.ts';
import type { Timer } from '../ports/timers.ts';

/** How long a repeat of the request has before the watchdog asks by itself. */
const PATIENCE_MS = MINUTE_MS;
/** Whatever the provider says or fails to say, a creation is over by then (K7: within 10 minutes of account time). */
const GIVE_UP_MS = 9 * MINUTE_MS;

export const creation: ProcessManager = {
  name: 'creation',
  categories: ['payment'],
  react: (logged) => {
    if (!isOf(logged, 'payment')) return [];
    const { account, mode, subject: key, event } = logged;
    switch (event.type) {
      case 'ChargeCreated': {
        const { createdAt, api, methods } = event.data;
        const dueAt = addMillis(createdAt, endsAfterMs(api));
        // One instrument says nothing of the others: a timer under another key, which nothing clears, looks after all of several.
        const timerKey = methods.length === 1 ? key : `${key}:all`;
        const timer = { account, mode, kind: 'resumeCreation', key: timerKey, group: null, dueAt } as const;
        return [{ kind: 'timer', timer, first: true }, ...(api === 'payments' ? [job('finalise', key, account)] : [])];
      }
      case 'ChargePixIssued':
      case 'ChargeInstrumentIssued':
      case 'ChargeFailed':
      case 'ChargeCancelled':
        return [{ kind: 'clearTimer', timer: { kind: 'resumeCreation', key } }];
      default:
        return [];
    }
  },
};

/** Nobody repeats the request of a payment: its job asks again and again, as long as there is time. */
const endsAfterMs = (api: ChargeTerms['api']): number => (api === 'charges' ? PATIENCE_MS : GIVE_UP_MS);

const isPix = (method: PaymentMethod): boolean => method === 'PIX';

/** What the provider is asked to make of one method. */
export const instrumentRequest = (
  terms: ChargeTerms,
  method: PaymentMethod,
  receiver: { receiverName: string; receiverCity: string },
): InstrumentRequest => ({
  paymentId: terms.paymentId,
  accountId: terms.accountId,
  mode: terms.mode,
  txid: terms.txid,
  method,
  amount: terms.amount,
  currency: terms.currency,
  createdAt: terms.createdAt,
  expiresAt: addMillis(terms.createdAt, METHOD_RULES[method].lifetimeMs ?? terms.expiresInSeconds * SECOND_MS),
  baseUrl: terms.baseUrl,
  metadata: terms.metadata,
  receiverName: receiver.receiverName,
  receiverCity: receiver.receiverCity,
});

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly providers: PaymentProviders;
  readonly setTimer: (timer: Timer) => Promise<void>;
}

export class CreationProcess {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** The effect and its record. Unknown or unavailable: nothing is recorded, the creation stays open. */
  async issue(
    provider: PaymentProvider,
    request: InstrumentRequest,
    isResumed: boolean,
  ): Promise<InstrumentOutcome['kind']> {
    const outcome = isResumed ? await askThenIssue(provider, request) : await provider.issue(request);
    const known = issuanceOf(request.method, outcome);
    if (known !== null) await this.#record(request, [known], await this.#now(request));
    return outcome.kind;
  }

  /** Handler of one item of the queue `finalise`: a payment id. Throws UnknownAtProvider until every method is known. */
  async finalise(item: string): Promise<void> {
    const payment = await this.#load(item);
    if (payment === null || !isAlive(payment)) return;
    const requests = await this.#pendingRequests(payment);
    const provider = this.#needs.providers.of(payment.charge.terms.mode);
    const outcomes = await Promise.all(
      requests.map((request) => provider?.issueLocally(request) ?? askedOf(provider, request)),
    );
    const known = outcomes.flatMap((outcome, i) => {
      const { method } = requests[i] as InstrumentRequest;
      return outcome === null ? [] : 'instrument' in outcome ? [outcome] : (issuanceOf(method, outcome) ?? []);
    });
    // The Pix code first, so that whoever is told of the payment is told with it.
    known.sort((a, b) => Number(isPix(b.method)) - Number(isPix(a.method)));
    const [first] = requests;
    if (first && known.length > 0) await this.#record(first, known, await this.#now(first));
    if (known.length < requests.length) throw new UnknownAtProvider(`instruments of payment ${item}`);
  }

  /**
   * Handler of one item of the queue `resumeCreation`: a payment id, `:all` after it for several methods. Throws UnknownAtProvider
   * until the time is up.
   */
  async resume(item: string): Promise<void> {
    const payment = await this.#load(item);
    if (payment === null || !isAlive(payment)) return;
    const { terms } = payment.charge;
    const requests = await this.#pendingRequests(payment);
    const isOver = (await this.#now(terms)) >= addMillis(terms.createdAt, GIVE_UP_MS);
    if (terms.api === 'payments' && !isOver) return this.finalise(item);
    // A test clock that jumped over the timer: it acts at its own instant (X5).
    const at = await this.#needs.accounts.actingAt(
      terms.accountId,
      terms.mode,
      addMillis(terms.createdAt, endsAfterMs(terms.api)),
    );
    const provider = this.#needs.providers.of(terms.mode);
    const asked = await Promise.all(requests.map((request) => found(provider, request, isOver)));
    const known = asked.flatMap((issuance) => issuance ?? []);
    const [first] = requests;
    if (first && known.length > 0) await this.#record(first, known, at);
    if (known.length === requests.length) return;
    // The queue's own retries may pause beyond the time there is (K7).
    const dueAt = addMillis(terms.createdAt, GIVE_UP_MS);
    const { paymentId: key, accountId: account, mode } = terms;
    await this.#needs.setTimer({ account, mode, kind: 'resumeCreation', key, group: null, dueAt });
    throw new UnknownAtProvider(`instruments of charge ${item}`);
  }

  /**
   * Before what was told of `method` is judged (null: of any): whether it has an instrument must be known, or money for one that our
   * record does not know yet would go back. Another method that stays unknown holds nothing up. Throws UnknownAtProvider.
   */
  async resumeFor(id: PaymentId, method: PaymentMethod | null): Promise<void> {
    const { commands } = this.#needs;
    const stream = streamName.payment(id);
    if (isKnown((await commands.loadRecent(PAYMENT, stream)).state, method)) return;
    await this.resume(id).catch(async (error: unknown) => {
      if (!(error instanceof UnknownAtProvider)) throw error;
      if (!isKnown((await commands.load(PAYMENT, stream)).state, method)) throw error;
    });
  }

  async #load(item: string): Promise<ExistingPayment | null> {
    const { state } = await this.#needs.commands.load(PAYMENT, streamName.payment(item.split(':')[0] as PaymentId));
    return exists(state) ? state : null;
  }

  async #pendingRequests(payment: ExistingPayment): Promise<readonly InstrumentRequest[]> {
    const { settings } = await this.#needs.accounts.get(payment.charge.terms.accountId);
    return pendingMethods(payment.charge).map((method) => instrumentRequest(payment.charge.terms, method, settings));
  }

  #now({ accountId, mode }: Pick<InstrumentRequest, 'accountId' | 'mode'>): Promise<Timestamp> {
    return this.#needs.accounts.now(accountId, mode);
  }

  async #record(request: InstrumentRequest, known: readonly Issuance[], at: Timestamp): Promise<void> {
    const { paymentId, txid } = request;
    const why = byProcess('creation', request, paymentId, txid);
    const decide = recordIssuances(known, at);
    await this.#needs.commands.record(PAYMENT, streamName.payment(paymentId), decide, why);
  }
}

const isAlive = ({ charge }: ExistingPayment): boolean => charge.status === 'requested' || charge.status === 'open';

const isKnown = (state: PaymentState, method: PaymentMethod | null): boolean => {
  if (!exists(state)) return false;
  const pending = isAlive(state) ? pendingMethods(state.charge) : [];
  return method === null ? pending.length === 0 : !pending.includes(method);
};

const issuanceOf = (method: PaymentMethod, outcome: InstrumentOutcome): Issuance | null => {
  if (outcome.kind === 'issued') return outcome.issued;
  if (outcome.kind !== 'refused') return null;
  const { reason, providerErrorCode } = outcome;
  return { method, refused: { reason, providerErrorCode } };
};

const askedOf = (provider: PaymentProvider | null, request: InstrumentRequest): Promise<InstrumentOutcome> | null =>
  provider && askThenIssue(provider, request);

/** What may exist already is looked for before it is made. */
const askThenIssue = async (provider: PaymentProvider, request: InstrumentRequest): Promise<InstrumentOutcome> => {
  const known = await provider.findInstrument(request);
  if (known.kind === 'unknown') return { kind: 'unknown' };
  return known.value === null ? provider.issue(request) : { kind: 'issued', issued: known.value };
};

const NOT_CONFIRMED: Failure = {
  reason: 'The provider never confirmed the charge.',
  providerErrorCode: 'not_confirmed',
};

/** null: not known, and there is time to ask again. */
const found = async (
  provider: PaymentProvider | null,
  request: InstrumentRequest,
  isOver: boolean,
): Promise<Issuance | null> => {
  const known = await provider?.findInstrument(request);
  if (known?.kind === 'known' && known.value !== null) return known.value;
  return known?.kind === 'known' || isOver ? { method: request.method, refused: NOT_CONFIRMED } : null;
};
