// Issues instruments: for a charge during its request, for a payment in a job (P4). A timer completes interrupted issuing (K7).
import Type from 'typebox';
import type { OpenAccount } from '../../domain/account/account.ts';
import type { ChargeTerms } from '../../domain/charge/charge.ts';
import { pendingMethods } from '../../domain/charge/charge.ts';
import { expiryOf, hasDueDay, type PaymentMethod } from '../../domain/charge/methods.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { addMillis, earlier, SECOND_MS, secondsBetween, type Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { type Issuance, recordIssuances, rerouteCharge } from '../../domain/payment/create.ts';
import { type ExistingPayment, exists, isAwaitingMoney, type PaymentState } from '../../domain/payment/payment.ts';
import { GIVEN_UP_AFTER_MS, RESUMED_AFTER_MS } from '../../domain/payment/pendingWork.ts';
import { payerTaxIdOf } from '../../domain/pix/taxId.ts';
import { PROVIDER_CONNECTION } from '../../domain/providerConnection/aggregate.ts';
import { idOf, jobKind, ofPayment, payloadOf, timedKind } from '../core/capability.ts';
import { documentTokenOf } from '../core/derivedIds.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import { clearTimer, enqueue, nothing, paymentOf, processManager, reacting, setTimer } from '../core/reactions.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type {
  InstrumentOutcome,
  InstrumentRequest,
  PaymentProvider,
  PaymentProviders,
} from '../ports/paymentProvider.ts';
import { UnknownAtProvider, unlessUnknown } from '../ports/paymentProvider.ts';
import { type Timers, timerKey, timerOf } from '../ports/timers.ts';

/** Added to the lifetime requested from the provider, because the lifetime counts from the moment its answer is known. */
const SPARE_MS = 10 * SECOND_MS;
/** A resumed instrument may live this much less than requested, if the provider owns the expiry (V8). */
const SHORTFALL_MS = 90 * SECOND_MS;
/** The lifetime of a locally made instrument counts from the payment's creation, unless its job ran later than this. */
const PROMPT_MS = 5 * SECOND_MS;

export const issueInstruments = jobKind({ name: 'issueInstruments', ...ofPayment });

export const resumeIssuing = timedKind({
  name: 'resumeIssuing',
  /** `ofAll`: the payment has several methods. Issuing one instrument does not complete the others, so nothing clears this timer. */
  payload: payloadOf({ paymentId: idOf<PaymentId>(), ofAll: Type.Optional(Type.Boolean()) }),
  subjectOf: ({ paymentId }) => paymentId,
  timer: { keyOf: ({ paymentId, ofAll }) => (ofAll ? `${paymentId} all` : paymentId), onlyLater: true },
});

const stopTimer = (logged: { readonly subject: string }) => [
  clearTimer(resumeIssuing, { paymentId: paymentOf(logged) }),
];

export const instrumentIssuing = processManager({
  name: 'instrumentIssuing',
  movesMoney: true,
  from: 'beginning',
  reactions: {
    payment: reacting(PAYMENT.groups, {
      reads: {
        ChargeCreated: (logged) => {
          const { createdAt, api, methods } = logged.event.data;
          const paymentId = paymentOf(logged);
          const payload = { paymentId, ...(methods.length > 1 && { ofAll: true }) };
          const timer = setTimer(resumeIssuing, payload, logged, addMillis(createdAt, endsAfterMs(api)));
          return [{ ...timer, first: true }, ...(api === 'payments' ? [enqueue(issueInstruments, { paymentId })] : [])];
        },
        ChargePixIssued: stopTimer,
        ChargeRerouted: nothing,
        ChargeInstrumentIssued: stopTimer,
        ChargeFailed: stopTimer,
        ChargeCancelled: stopTimer,
        ChargeCancelRequested: nothing,
        ChargeExpired: nothing,
      },
      ignores: ['resend', 'attempts', 'money', 'held', 'returns', 'refund', 'dispute', 'erasure'],
    }),
  },
});

/** Returns how long after the creation the resume timer fires: for a payment only when its own job has run out of time. */
const endsAfterMs = (api: ChargeTerms['api']): number => (api === 'charges' ? RESUMED_AFTER_MS : GIVEN_UP_AFTER_MS);

const isPix = (method: PaymentMethod): boolean => method === 'PIX';

/** Returns the request for one method's instrument, with its full lifetime counted from `from`. */
export const instrumentRequest = (
  terms: ChargeTerms,
  method: PaymentMethod,
  { idSeed, settings: { receiverName, receiverCity } }: Pick<OpenAccount, 'idSeed' | 'settings'>,
  from: Timestamp,
): InstrumentRequest => {
  const { paymentId, accountId, mode, txid, amount, currency, createdAt, baseUrl, metadata } = terms;
  const { expiresAt, lifetimeSeconds } = lifetimeOf(method, terms, from);
  const common = { paymentId, accountId, mode, txid, method, amount, currency, createdAt, expiresAt, lifetimeSeconds };
  // A bank gets the debtor and the purpose of the payment; the sandbox bank needs other data.
  if (mode === 'live') return { ...common, debtor: debtorOf(terms.customer), note: noteOf(metadata), sandbox: null };
  const documentToken = method === 'BOLETO' ? documentTokenOf(idSeed, paymentId) : null;
  const sandbox = { baseUrl, metadata, receiverName, receiverCity, documentToken };
  return { ...common, debtor: null, note: null, sandbox };
};

const lifetimeOf = (method: PaymentMethod, terms: ChargeTerms, from: Timestamp) => {
  const expiresAt = expiryOf(method, terms, from);
  return { expiresAt, lifetimeSeconds: secondsBetween(from, expiresAt) };
};

/** The standard API takes a debtor with name and document, or none. */
const debtorOf = ({ name, document }: ChargeTerms['customer']): InstrumentRequest['debtor'] => {
  const taxId = payerTaxIdOf(document);
  return name === null || taxId === null ? null : { name, document: taxId };
};

const noteOf = ({ description }: ChargeTerms['metadata']): string | null =>
  typeof description === 'string' && description !== '' ? description : null;

/**
 * Methods with a due day get no spare time, because it would change the printed due day. A provider that owns the expiry gets none,
 * because its own expiry is what the payer sees.
 */
const withSpare = (provider: PaymentProvider, request: InstrumentRequest): InstrumentRequest =>
  hasDueDay(request.method) || provider.ownsExpiry
    ? request
    : {
        ...request,
        expiresAt: addMillis(request.expiresAt, SPARE_MS),
        lifetimeSeconds: request.lifetimeSeconds + SPARE_MS / SECOND_MS,
      };

interface Needs extends UseCaseNeeds {
  readonly providers: PaymentProviders;
  readonly timers: Pick<Timers, 'set' | 'dueAt'>;
}

/**
 * A request and its outcome. `isMade`: the instrument was made locally, so no provider clock limits its lifetime. `isResumed`: issuing
 * was interrupted before.
 */
interface Asked {
  readonly request: InstrumentRequest;
  readonly outcome: InstrumentOutcome;
  readonly isMade?: boolean;
  readonly isResumed?: boolean;
}

/** The connection certainly created no instrument, so the next one may be tried (V7). */
type CertainlyNothing = Extract<InstrumentOutcome, { kind: 'refused' | 'unavailable' }>;

export class InstrumentIssuer {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /**
   * Issues the instrument of a new charge and records it. If a provider certainly created nothing, the next one of the route is tried
   * (V7). Returns false if the outcome is unknown or the last provider unavailable; then no outcome is recorded and the creation stays
   * open.
   */
  async issue(route: readonly PaymentProvider[], payment: ExistingPayment): Promise<boolean> {
    const { terms } = payment.charge;
    const [request] = await this.#pendingRequests(payment, await this.#now(terms));
    for (let provider = route[0]; request !== undefined && provider !== undefined; ) {
      const outcome = (await this.#outOfUse(provider)) ?? (await provider.issue(withSpare(provider, request)));
      const isCertain = outcome.kind === 'refused' || outcome.kind === 'unavailable';
      const next = isCertain ? await this.#reroute(terms, route, provider, outcome) : undefined;
      if (next === undefined) return this.#recordKnown(provider, terms, [{ request, outcome }]);
      provider = next;
    }
    return true;
  }

  /**
   * Returns null if the connection is in use, otherwise the outcome of a call that is not made. Reads its stream, because the registry may
   * be a second behind. So no charge is issued at a removed connection, in whichever process, if it is assigned before this read: either
   * the removal is recorded before the read, which then sees it, or after the assignment. Then the removal, which counts the open work
   * after it is recorded, sees the charge.
   */
  async #outOfUse({ connectionId: id }: PaymentProvider): Promise<CertainlyNothing | null> {
    if (id === null) return null;
    const { state } = await this.#needs.commands.load(PROVIDER_CONNECTION, PROVIDER_CONNECTION.stream(id));
    if (state.status === 'removed') return REMOVED;
    return state.status === 'disabled' ? { kind: 'unavailable' } : null;
  }

  /**
   * Returns the next connection of the route that still takes new charges: the last one may have taken half a minute to fail. One that is
   * out of use is skipped before the charge is assigned to it, so that it is not left there.
   */
  async #nextOf(
    terms: ChargeTerms,
    route: readonly PaymentProvider[],
    { connectionId: from }: PaymentProvider,
  ): Promise<PaymentProvider | undefined> {
    const later = route.slice(route.findIndex(({ connectionId }) => connectionId === from) + 1);
    if (later.length === 0) return undefined;
    const fresh = await this.#needs.providers.route(terms, terms.methods);
    for (const { connectionId: id } of later) {
      const next = fresh.find(({ connectionId }) => connectionId === id);
      if (next !== undefined && (await this.#outOfUse(next)) === null) return next;
    }
    return undefined;
  }

  /**
   * Records that the request goes to the next connection. Returns undefined if no connection is left, or if the charge changed in the
   * meantime.
   */
  async #reroute(
    terms: ChargeTerms,
    route: readonly PaymentProvider[],
    provider: PaymentProvider,
    outcome: CertainlyNothing,
  ): Promise<PaymentProvider | undefined> {
    const next = await this.#nextOf(terms, route, provider);
    if (next === undefined || next.connectionId === null) return undefined;
    const { paymentId, txid } = terms;
    const failure = outcome.kind === 'refused' ? outcome : UNAVAILABLE;
    const decide = rerouteCharge(provider.connectionId, next.connectionId, failure, await this.#now(terms));
    const metadata = metadataForProcess('instrumentIssuing', terms, paymentId, txid);
    const done = await this.#needs.commands.record(PAYMENT, PAYMENT.stream(paymentId), decide, metadata);
    return done.reply === 'rerouted' ? next : undefined;
  }

  /**
   * Resumes the creation of a charge because the client repeated the request, which postpones the resume timer. Only the recorded
   * connection is asked: an earlier call may have reached it. Returns false as `issue` does.
   */
  async issueAgain(payment: ExistingPayment): Promise<boolean> {
    const { terms } = payment.charge;
    const now = await this.#now(terms);
    if (now >= giveUpAt(terms)) return this.#look(payment, now);
    await this.#lookLater(terms, now);
    const [request] = await this.#pendingRequests(payment, now);
    if (request === undefined) return true;
    const provider = await this.#needs.providers.of(terms);
    if (provider === null) return false;
    const outcome = await askThenIssue(provider, withSpare(provider, request));
    return this.#recordKnown(provider, terms, [{ request, outcome, isResumed: true }]);
  }

  /** Issues all missing instruments of a payment. Throws UnknownAtProvider if the outcome of any method is unknown. */
  async issueAll(paymentId: PaymentId): Promise<void> {
    const payment = await this.#load(paymentId);
    if (payment === null || !isAwaitingMoney(payment)) return;
    const { terms } = payment.charge;
    const provider = await this.#needs.providers.of(terms);
    if (provider === null) throw new UnknownAtProvider(`instruments of payment ${paymentId}`);
    const now = await this.#now(terms);
    const isPrompt = now <= addMillis(terms.createdAt, PROMPT_MS);
    const made = await this.#pendingRequests(payment, isPrompt ? terms.createdAt : now);
    const requests = await this.#pendingRequests(payment, now);
    const asked = await Promise.all(
      requests.map(async (request, i): Promise<Asked> => {
        const issued = provider.issueLocally(made[i] as InstrumentRequest);
        if (issued !== null) return { request, outcome: { kind: 'issued', issued }, isMade: true };
        return { request, outcome: await askThenIssue(provider, withSpare(provider, request)), isResumed: !isPrompt };
      }),
    );
    if (!(await this.#recordKnown(provider, terms, asked)))
      throw new UnknownAtProvider(`instruments of payment ${paymentId}`);
  }

  /**
   * Resumes interrupted issuing. `dueAt`: when its timer was due, if a test clock skipped that instant. While the outcome is unknown and
   * time remains, sets another timer for a charge and throws UnknownAtProvider for a payment.
   */
  async resume(paymentId: PaymentId, dueAt?: Timestamp): Promise<void> {
    const payment = await this.#load(paymentId);
    if (payment === null || !isAwaitingMoney(payment)) return;
    const { terms } = payment.charge;
    const { accountId, mode, api } = terms;
    const at = await this.#needs.accounts.actingAt(accountId, mode, dueAt);
    const isOver = at >= giveUpAt(terms);
    if (api === 'payments' && !isOver) return this.issueAll(paymentId);
    // The client repeated the request in the meantime, which moved the timer: the next look is a minute after the repeat.
    const next = isOver ? null : await this.#needs.timers.dueAt(timerKey(resumeIssuing, { paymentId }));
    if (next !== null && next > at) return;
    if (!(await this.#look(payment, at))) await this.#lookLater(terms, at);
  }

  /**
   * Records whether `method` (null: every method) has an instrument at the provider. Call it before settling a payment by this method:
   * money for an instrument that is missing in the stream would be returned. Throws UnknownAtProvider if the outcome stays unknown.
   */
  async resumeFor(id: PaymentId, method: PaymentMethod | null): Promise<void> {
    const { commands } = this.#needs;
    const stream = PAYMENT.stream(id);
    if (isKnown((await commands.loadRecent(PAYMENT, stream)).state, method)) return;
    const payment = await this.#load(id);
    if (payment === null || !isAwaitingMoney(payment)) return;
    const { terms } = payment.charge;
    const now = await this.#now(terms);
    if (terms.api === 'payments' && now < giveUpAt(terms)) await this.issueAll(id).catch(unlessUnknown);
    else await this.#look(payment, now);
    if (!isKnown((await commands.load(PAYMENT, stream)).state, method))
      throw new UnknownAtProvider(`instruments of payment ${id}`);
  }

  /**
   * Records the instruments that exist at the provider. Instruments that don't exist, or are unknown when time is up, are recorded as
   * refused. Returns false if some are unknown and time remains to ask again.
   */
  async #look(payment: ExistingPayment, at: Timestamp): Promise<boolean> {
    const { terms } = payment.charge;
    const isOver = at >= giveUpAt(terms);
    const provider = await this.#needs.providers.of(terms);
    const requests = await this.#pendingRequests(payment, at);
    const asked = await Promise.all(
      requests.map(async (request) => ({ request, outcome: await found(provider, request, isOver), isResumed: true })),
    );
    return this.#recordKnown(provider, terms, asked, at);
  }

  #lookLater({ paymentId, accountId: account, mode, createdAt }: ChargeTerms, now: Timestamp): Promise<void> {
    const dueAt = earlier(addMillis(now, RESUMED_AFTER_MS), addMillis(createdAt, GIVEN_UP_AFTER_MS));
    return this.#needs.timers.set(timerOf(resumeIssuing, { paymentId }, { account, mode, group: null, dueAt }));
  }

  async #load(paymentId: PaymentId): Promise<ExistingPayment | null> {
    const { state } = await this.#needs.commands.load(PAYMENT, PAYMENT.stream(paymentId));
    return exists(state) ? state : null;
  }

  async #pendingRequests(payment: ExistingPayment, from: Timestamp): Promise<readonly InstrumentRequest[]> {
    const { terms } = payment.charge;
    const account = await this.#needs.accounts.get(terms.accountId);
    return pendingMethods(payment.charge).map((method) => instrumentRequest(terms, method, account, from));
  }

  #now({ accountId, mode }: Pick<InstrumentRequest, 'accountId' | 'mode'>): Promise<Timestamp> {
    return this.#needs.accounts.now(accountId, mode);
  }

  /** Records the known outcomes, with lifetimes counted from `at` (null: now). Returns whether the payment has all outcomes now. */
  async #recordKnown(
    provider: PaymentProvider | null,
    terms: ChargeTerms,
    asked: readonly Asked[],
    at: Timestamp | null = null,
  ): Promise<boolean> {
    const answers = await Promise.all(asked.map((one) => this.#inFull(provider, terms, one, at)));
    const knownAt = at ?? (await this.#now(terms));
    const known = asked.flatMap(({ request: { method }, isMade = false }, i): readonly Issuance[] => {
      const issuance = issuanceOf(method, answers[i] as InstrumentOutcome);
      if (issuance === null) return [];
      const isFinal = isMade || provider?.ownsExpiry === true;
      return [isFinal ? issuance : expiringBy(issuance, expiryOf(method, terms, knownAt))];
    });
    // The Pix code comes first, so that messages about the payment contain it.
    known.sort((a, b) => Number(isPix(b.method)) - Number(isPix(a.method)));
    const { paymentId, txid } = terms;
    const metadata = metadataForProcess('instrumentIssuing', terms, paymentId, txid);
    if (known.length === 0) return asked.length === 0;
    const by = provider === null ? terms.connectionId : provider.connectionId;
    const decide = recordIssuances(known, knownAt, by);
    const { state } = await this.#needs.commands.record(PAYMENT, PAYMENT.stream(paymentId), decide, metadata);
    return known.length === asked.length && asked.every(({ request: { method } }) => isKnown(state, method));
  }

  /**
   * Returns the outcome with its full lifetime. The provider's clock started before its answer arrived, so the instrument is prolonged
   * if necessary (K7).
   */
  async #inFull(
    provider: PaymentProvider | null,
    terms: ChargeTerms,
    { request, outcome, isMade = false, isResumed = false }: Asked,
    at: Timestamp | null,
  ): Promise<InstrumentOutcome> {
    if (outcome.kind !== 'issued' || isMade || provider === null) return outcome;
    const now = at ?? (await this.#now(terms));
    const lifetime = lifetimeOf(request.method, terms, now);
    if (provider.ownsExpiry && !isResumed) return outcome;
    const enough = addMillis(lifetime.expiresAt, provider.ownsExpiry ? -SHORTFALL_MS : 0);
    if (outcome.issued.instrument.expiresAt >= enough) return outcome;
    const prolonged = await provider.prolong(withSpare(provider, { ...request, ...lifetime }));
    if (prolonged.kind === 'issued') return prolonged;
    const isOver = now >= giveUpAt(terms);
    if (prolonged.kind !== 'refused') return isOver ? NOT_CONFIRMED : prolonged;
    return outcome.issued.instrument.expiresAt > now ? outcome : NOT_CONFIRMED;
  }
}

const giveUpAt = ({ createdAt }: ChargeTerms): Timestamp => addMillis(createdAt, GIVEN_UP_AFTER_MS);

const isKnown = (state: PaymentState, method: PaymentMethod | null): boolean => {
  if (!exists(state)) return false;
  const pending = isAwaitingMoney(state) ? pendingMethods(state.charge) : [];
  return method === null ? pending.length === 0 : !pending.includes(method);
};

const issuanceOf = (method: PaymentMethod, outcome: InstrumentOutcome): Issuance | null => {
  if (outcome.kind === 'issued') return outcome.issued;
  if (outcome.kind !== 'refused') return null;
  const { reason, providerErrorCode } = outcome;
  return { method, refused: { reason, providerErrorCode } };
};

/** Returns the issuance with the earlier of the two expiry times: `end` or the provider's. */
const expiringBy = (issuance: Issuance, end: Timestamp): Issuance => {
  if ('refused' in issuance) return issuance;
  const expiresAt = earlier(issuance.instrument.expiresAt, end);
  return { ...issuance, instrument: { ...issuance.instrument, expiresAt } } as Issuance;
};

/** Looks for the instrument at the provider and issues it only if it does not exist yet. */
const askThenIssue = async (provider: PaymentProvider, request: InstrumentRequest): Promise<InstrumentOutcome> => {
  const known = await provider.findInstrument(request);
  if (known.kind === 'unknown') return { kind: 'unknown' };
  return known.value === null ? provider.issue(request) : { kind: 'issued', issued: known.value };
};

const UNAVAILABLE = { reason: 'The provider could not be reached.', providerErrorCode: 'unavailable' };

/** The connection was removed before it was called, so it will never be called. A disabled one may be enabled again (V5). */
const REMOVED: CertainlyNothing = { kind: 'refused', ...UNAVAILABLE };

const NOT_CONFIRMED: InstrumentOutcome = {
  kind: 'refused',
  reason: 'The provider never confirmed the charge.',
  providerErrorCode: 'not_confirmed',
};

/** Returns the existing instrument, or a refusal if it does not exist. `isOver`: time is up, so an unknown outcome is a refusal, too. */
const found = async (
  provider: PaymentProvider | null,
  request: InstrumentRequest,
  isOver: boolean,
): Promise<InstrumentOutcome> => {
  const known = await provider?.findInstrument(request);
  if (known?.kind === 'known' && known.value !== null) return { kind: 'issued', issued: known.value };
  return known?.kind === 'known' || isOver ? NOT_CONFIRMED : { kind: 'unknown' };
};
