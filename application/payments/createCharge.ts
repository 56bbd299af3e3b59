// POST /v1/charges and POST /v1/pix/charges: one operation (K1). The intent is stored before any outside call (K7).
import type { ChargeTerms } from '../../domain/charge/charge.ts';
import {
  CHARGE_FINGERPRINT_VERSION,
  type ChargeRequest,
  chargeFingerprintFields,
} from '../../domain/charge/request.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { type Creation, createCharge } from '../../domain/payment/create.ts';
import { assertExists, type ExistingPayment, type PaymentState } from '../../domain/payment/payment.ts';
import type { CommandHandler, Outcome } from '../core/commandHandler.ts';
import { metadataForRequest } from '../core/eventMetadata.ts';
import { fingerprintOf } from '../core/fingerprint.ts';
import type { Clock, Stopwatch } from '../ports/clock.ts';
import { type PaymentProvider, type PaymentProviders, ProviderUnavailable } from '../ports/paymentProvider.ts';
import type { VelocityGuard } from '../ports/velocityGuard.ts';
import { type CreationCommand, commonTerms, InFlightRequests, velocityRefusal } from './creationParts.ts';
import { type InstrumentIssuer, instrumentRequest } from './issueInstruments.ts';

interface CreateChargeCommand extends CreationCommand {
  readonly request: ChargeRequest;
}

interface Needs {
  readonly commands: CommandHandler;
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly providers: PaymentProviders;
  readonly issuer: InstrumentIssuer;
  readonly velocity: VelocityGuard;
}

export class CreateChargeHandler {
  readonly #needs: Needs;
  readonly #inFlight: InFlightRequests;

  constructor(needs: Needs) {
    this.#needs = needs;
    this.#inFlight = new InFlightRequests(needs.stopwatch, 'Idempotency-Key');
  }

  /** The charge as it was created, and whether it had been before. Throws ProviderUnavailable. */
  async handle(command: CreateChargeCommand): Promise<{ payment: ExistingPayment; replayed: boolean } | Rejection> {
    const provider = this.#needs.providers.of(command.mode);
    if (provider === null)
      return reject('unprocessable_entity', 'No payment provider is configured for Pix in live mode.');
    const terms = termsOf(command, this.#needs.clock.now());
    return this.#inFlight.run(terms.paymentId, () => this.#create(command, terms, provider));
  }

  async #create(command: CreateChargeCommand, terms: ChargeTerms, provider: PaymentProvider) {
    const { commands } = this.#needs;
    const refusal = await velocityRefusal(this.#needs, command.account, terms);
    if (refusal !== null) return refusal;
    const local = provider.issueLocally(instrumentRequest(terms, 'PIX', command.account, terms.createdAt));
    const decide = createCharge({
      terms,
      fingerprintUnder: (version) => fingerprintOf(version, chargeFingerprintFields(command.request)),
      fingerprintVersion: CHARGE_FINGERPRINT_VERSION,
      instrument: local?.method === 'PIX' ? local.instrument : null,
      keyParam: 'Idempotency-Key',
    });
    const stream = PAYMENT.stream(terms.paymentId);
    const outcome = await commands.execute(
      PAYMENT,
      stream,
      decide,
      metadataForRequest(command, terms, terms.paymentId),
      {
        creates: true,
      },
    );
    if (isRejection(outcome)) return outcome;
    // Resuming what was cut off is the first answer of a charge, not a replay of one.
    const replayed = outcome.reply === 'replayed' && outcome.state.charge.status !== 'requested';
    if (outcome.reply === 'created' && outcome.state.charge.status === 'open')
      return { payment: assertExists(outcome.state), replayed };
    return { payment: await this.#asCreated(outcome, provider), replayed };
  }

  /** The payment as its creation left it: issued, failed or cancelled (K3). Still cut off: the provider is asked now. */
  async #asCreated(outcome: Outcome<PaymentState, Creation>, provider: PaymentProvider): Promise<ExistingPayment> {
    const { commands, issuer } = this.#needs;
    const asked = assertExists(outcome.state);
    const { terms } = asked.charge;
    const stream = PAYMENT.stream(terms.paymentId);
    if (outcome.state.charge.status === 'requested') {
      const isKnown = await issuer.issue(provider, asked, outcome.reply === 'replayed');
      if (!isKnown)
        throw new ProviderUnavailable(
          'The payment provider did not answer. Repeat the request with the same Idempotency-Key.',
        );
    }
    // Not always the second event: a cancellation may have been asked for before.
    for await (const { after } of commands.loadSteps(PAYMENT, stream)) {
      const payment = assertExists(after);
      if (payment.charge.status !== 'requested') return payment;
    }
    throw new Error(`charge ${terms.paymentId} was not brought to its end`);
  }
}

const termsOf = (command: CreateChargeCommand, nowMs: number): ChargeTerms => {
  const { request, account } = command;
  return {
    ...commonTerms(command, 'charges.create', request, nowMs),
    methods: ['PIX'],
    customer: request.customer,
    customerId: null,
    expectedPayerTaxId: request.expectedPayerTaxId,
    expiresInSeconds: request.expiresInSeconds ?? account.settings.chargeWindowSeconds,
    api: 'charges',
    webhookUrl: null,
  };
};
