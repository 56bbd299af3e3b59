// Creates charges (POST /v1/charges and POST /v1/pix/charges, one operation: K1) and payments (POST /v1/payments). Both store the intent
// before any external call (K7). Order of the checks: concurrent request with the same key, provider, fraud guard, idempotency. A repeat
// needs no provider: the first request chose it, and a key never expires (K3).

import { accountTime, type OpenAccount } from '../../domain/account/account.ts';
import type { ChargeTerms } from '../../domain/charge/charge.ts';
import type { PaymentMethod } from '../../domain/charge/methods.ts';
import {
  CHARGE_FINGERPRINT_VERSION,
  type ChargeRequest,
  chargeFingerprintFields,
  PAYMENT_FINGERPRINT_VERSION,
  type PaymentRequest,
  paymentFingerprintFields,
} from '../../domain/charge/request.ts';
import type { Mode, Tenant } from '../../domain/kernel/ids.ts';
import type { Json } from '../../domain/kernel/json.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { type CreateCharge, type Creation, createCharge } from '../../domain/payment/create.ts';
import { assertExists, type ExistingPayment, exists, type PaymentState } from '../../domain/payment/payment.ts';
import { documentKeyOf } from '../../domain/pix/taxId.ts';
import type { CommandHandler, Outcome } from '../core/commandHandler.ts';
import { fingerprintOf, type Operation, paymentIds } from '../core/derivedIds.ts';
import { type Actor, metadataForRequest } from '../core/eventMetadata.ts';
import { InFlightRequests } from '../core/inFlightRequests.ts';
import { type PaymentProvider, type PaymentProviders, ProviderUnavailable } from '../ports/paymentProvider.ts';
import type { Clock, Stopwatch } from '../ports/system.ts';
import type { VelocityGuard } from '../ports/velocityGuard.ts';
import { type InstrumentIssuer, instrumentRequest } from './issueInstruments.ts';

interface CreationNeeds {
  readonly commands: CommandHandler;
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly providers: PaymentProviders;
  readonly velocity: VelocityGuard;
}

/** The requester of a new charge or payment, and the idempotency key. */
interface CreationCommand extends Actor {
  readonly account: OpenAccount;
  readonly mode: Mode;
  readonly idempotencyKey: string;
  readonly baseUrl: string;
}

interface Asked {
  readonly amount: Minor;
  readonly currency: string;
  readonly metadata: { readonly [key: string]: Json };
}

const tenantOf = ({ account: { accountId }, mode }: CreationCommand): Tenant => ({ accountId, mode });

/** Returns the terms that are derived from the key, the account and the clock. */
const commonTerms = (
  { account, mode, idempotencyKey, baseUrl }: CreationCommand,
  operation: Operation,
  { amount, currency, metadata }: Asked,
  nowMs: number,
  provider: PaymentProvider | undefined,
) => ({
  ...paymentIds(account, mode, operation, idempotencyKey),
  accountId: account.accountId,
  mode,
  amount,
  currency,
  metadata,
  baseUrl,
  connectionId: provider?.connectionId ?? null,
  createdAt: accountTime(account, mode, nowMs),
});

/** Returns whether an earlier request with the same key stored the payment. */
const isStored = async ({ commands }: CreationNeeds, { paymentId }: ChargeTerms): Promise<boolean> =>
  exists((await commands.load(PAYMENT, PAYMENT.stream(paymentId))).state);

/**
 * The fraud guard of live charges (rule E6). Returns null and counts the charge if it is allowed. Replays and creations interrupted by a
 * crash always pass. The customer's limit is checked before the account's. A refusal writes nothing, so the key can be used again.
 */
const velocityRefusal = async (
  needs: CreationNeeds,
  { settings }: Pick<OpenAccount, 'settings'>,
  terms: ChargeTerms,
  inFlight: InFlightRequests,
): Promise<Rejection | null> => {
  const { paymentId, accountId, mode, customer, createdAt } = terms;
  if (mode !== 'live' || (await isStored(needs, terms))) return null;
  const outcome = await needs.velocity.reserve({
    paymentId,
    accountId,
    customer: documentKeyOf(customer.document ?? ''),
    at: createdAt,
    ...settings.velocity,
  });
  // In another process, another customer's request with the same key.
  if (outcome === 'running') return inFlight.stillRunning();
  if (outcome === 'customer')
    return reject('fraud.customer_velocity_exceeded', 'Too many charges for this customer within one hour.');
  return outcome === 'account'
    ? reject('fraud.account_velocity_exceeded', 'Too many charges by this account within one hour.')
    : null;
};

/** Appends the creation, or returns the earlier one made with the same key. */
const record = (
  { commands }: CreationNeeds,
  command: CreationCommand,
  wish: CreateCharge,
): Promise<Outcome<PaymentState, Creation> | Rejection> => {
  const { terms } = wish;
  const metadata = metadataForRequest(command, terms, terms.paymentId);
  return commands.execute(PAYMENT, PAYMENT.stream(terms.paymentId), createCharge(wish), metadata, { creates: true });
};

/** The payment as it was created. `replayed`: an earlier request with the same key created it. */
type Created = { readonly payment: ExistingPayment; readonly replayed: boolean };

// --- Charges: the response waits until the instrument is issued or has failed ---

interface CreateChargeCommand extends CreationCommand {
  readonly request: ChargeRequest;
}

interface ChargeNeeds extends CreationNeeds {
  readonly issuer: InstrumentIssuer;
}

export class CreateChargeHandler {
  readonly #needs: ChargeNeeds;
  readonly #inFlight: InFlightRequests;

  constructor(needs: ChargeNeeds) {
    this.#needs = needs;
    this.#inFlight = new InFlightRequests(needs.stopwatch, 'Idempotency-Key');
  }

  /** Creates the charge and issues its instrument. Throws ProviderUnavailable if the provider gives no definite answer. */
  async handle(command: CreateChargeCommand): Promise<Created | Rejection> {
    const route = await this.#needs.providers.route(tenantOf(command), METHODS);
    const terms = chargeTerms(command, this.#needs.clock.now(), route[0]);
    return this.#inFlight.run(terms.paymentId, () => this.#create(command, terms, route));
  }

  async #create(
    command: CreateChargeCommand,
    terms: ChargeTerms,
    route: readonly PaymentProvider[],
  ): Promise<Created | Rejection> {
    const [provider] = route;
    // V3: nothing is written.
    if (provider === undefined && !(await isStored(this.#needs, terms)))
      return reject('unprocessable_entity', 'No payment provider is configured for Pix in live mode.');
    const refusal = await velocityRefusal(this.#needs, command.account, terms, this.#inFlight);
    if (refusal !== null) return refusal;
    const local = provider?.issueLocally(instrumentRequest(terms, 'PIX', command.account, terms.createdAt));
    const outcome = await record(this.#needs, command, {
      terms,
      fingerprintUnder: (version) => fingerprintOf(command.account, version, chargeFingerprintFields(command.request)),
      fingerprintVersion: CHARGE_FINGERPRINT_VERSION,
      instrument: local?.method === 'PIX' ? local.instrument : null,
      keyParam: 'Idempotency-Key',
    });
    if (isRejection(outcome)) return outcome;
    // A repeat that resumes an interrupted creation gives the charge its first response, so it is not a replay.
    const replayed = outcome.reply === 'replayed' && outcome.state.charge.status !== 'requested';
    if (outcome.reply === 'created' && outcome.state.charge.status === 'open')
      return { payment: assertExists(outcome.state), replayed };
    return { payment: await this.#asCreated(outcome, route), replayed };
  }

  /** Returns the payment as its creation left it: issued, failed or cancelled (K3). Asks the provider if the creation was interrupted. */
  async #asCreated(
    outcome: Outcome<PaymentState, Creation>,
    route: readonly PaymentProvider[],
  ): Promise<ExistingPayment> {
    const { commands, issuer } = this.#needs;
    const asked = assertExists(outcome.state);
    const { terms } = asked.charge;
    const stream = PAYMENT.stream(terms.paymentId);
    if (outcome.state.charge.status === 'requested') {
      const isKnown = await (outcome.reply === 'replayed' ? issuer.issueAgain(asked) : issuer.issue(route, asked));
      if (!isKnown)
        throw new ProviderUnavailable(
          'The payment provider did not answer. Repeat the request with the same Idempotency-Key.',
        );
    }
    // A state of two events can't be stale, and mostly the second one is the outcome.
    const { state, revision } = await commands.loadRecent(PAYMENT, stream);
    if (revision === 1 && exists(state) && state.charge.status !== 'requested') return state;
    // Otherwise the creation was rerouted, a cancellation was requested before, or the payment has changed since.
    for await (const { after } of commands.loadSteps(PAYMENT, stream)) {
      const payment = assertExists(after);
      if (payment.charge.status !== 'requested') return payment;
    }
    throw new Error(`charge ${terms.paymentId} was neither issued nor failed`);
  }
}

const METHODS: readonly PaymentMethod[] = ['PIX'];

const chargeTerms = (
  command: CreateChargeCommand,
  nowMs: number,
  provider: PaymentProvider | undefined,
): ChargeTerms => {
  const { request, account } = command;
  return {
    ...commonTerms(command, 'charges.create', request, nowMs, provider),
    methods: METHODS,
    customer: request.customer,
    customerId: null,
    expectedPayerTaxId: request.expectedPayerTaxId,
    expiresInSeconds: request.expiresInSeconds ?? account.settings.chargeWindowSeconds,
    api: 'charges',
    webhookUrl: null,
  };
};

// --- Payments: only the intent is stored. A job finalizes it with the acquirers later (P4), so the response never waits for one ---

interface CreatePaymentCommand extends CreationCommand {
  readonly request: PaymentRequest;
}

export class CreatePaymentHandler {
  readonly #needs: CreationNeeds;
  readonly #inFlight: InFlightRequests;

  constructor(needs: CreationNeeds) {
    this.#needs = needs;
    this.#inFlight = new InFlightRequests(needs.stopwatch, 'idempotencyKey');
  }

  async handle(command: CreatePaymentCommand): Promise<Created | Rejection> {
    const [provider] = await this.#needs.providers.route(tenantOf(command), command.request.methods);
    const terms = paymentTerms(command, this.#needs.clock.now(), provider);
    return this.#inFlight.run(terms.paymentId, () => this.#create(command, terms, provider !== undefined));
  }

  async #create(command: CreatePaymentCommand, terms: ChargeTerms, isRouted: boolean): Promise<Created | Rejection> {
    if (!isRouted && !(await isStored(this.#needs, terms)))
      return reject('unprocessable_entity', 'No payment provider is configured for these methods in live mode.');
    const refusal = await velocityRefusal(this.#needs, command.account, terms, this.#inFlight);
    if (refusal !== null) return refusal;
    const outcome = await record(this.#needs, command, {
      terms,
      fingerprintUnder: (version) => fingerprintOf(command.account, version, paymentFingerprintFields(command.request)),
      fingerprintVersion: PAYMENT_FINGERPRINT_VERSION,
      instrument: null,
      keyParam: 'idempotencyKey',
    });
    if (isRejection(outcome)) return outcome;
    if (outcome.reply === 'created') return { payment: assertExists(outcome.state), replayed: false };
    // A replay returns the state at creation, whatever happened since (K3).
    const created = await this.#needs.commands.loadStep(PAYMENT, PAYMENT.stream(terms.paymentId), 0);
    if (created === null) throw new Error(`payment ${terms.paymentId} has no creation event`);
    return { payment: assertExists(created.after), replayed: true };
  }
}

const paymentTerms = (
  command: CreatePaymentCommand,
  nowMs: number,
  provider: PaymentProvider | undefined,
): ChargeTerms => {
  const { request, account } = command;
  return {
    ...commonTerms(command, 'payments.create', request, nowMs, provider),
    methods: request.methods,
    customer: request.customer,
    customerId: request.customerId,
    expectedPayerTaxId: null,
    expiresInSeconds: account.settings.chargeWindowSeconds,
    api: 'payments',
    webhookUrl: request.webhookUrl,
  };
};
