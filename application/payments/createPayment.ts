// POST /v1/payments: the intent alone. A job finalises it with the acquirers afterwards (P4), so that no answer waits for one.
import type { ChargeTerms } from '../../domain/charge/charge.ts';
import {
  PAYMENT_FINGERPRINT_VERSION,
  type PaymentRequest,
  paymentFingerprintFields,
} from '../../domain/charge/paymentRequest.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { createCharge } from '../../domain/payment/create.ts';
import { assertExists, type ExistingPayment } from '../../domain/payment/payment.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { metadataForRequest } from '../core/eventMetadata.ts';
import { fingerprintOf } from '../core/fingerprint.ts';
import type { Clock, Stopwatch } from '../ports/clock.ts';
import type { PaymentProviders } from '../ports/paymentProvider.ts';
import type { VelocityGuard } from '../ports/velocityGuard.ts';
import { type CreationCommand, commonTerms, InFlightRequests, velocityRefusal } from './creationParts.ts';

interface CreatePaymentCommand extends CreationCommand {
  readonly request: PaymentRequest;
}

interface Needs {
  readonly commands: CommandHandler;
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly providers: PaymentProviders;
  readonly velocity: VelocityGuard;
}

export class CreatePaymentHandler {
  readonly #needs: Needs;
  readonly #inFlight: InFlightRequests;

  constructor(needs: Needs) {
    this.#needs = needs;
    this.#inFlight = new InFlightRequests(needs.stopwatch, 'idempotencyKey');
  }

  /** The payment as it was created, and whether it had been before. */
  async handle(command: CreatePaymentCommand): Promise<{ payment: ExistingPayment; replayed: boolean } | Rejection> {
    if (this.#needs.providers.of(command.mode) === null)
      return reject('unprocessable_entity', 'No payment provider is configured for these methods in live mode.');
    const terms = termsOf(command, this.#needs.clock.now());
    return this.#inFlight.run(terms.paymentId, () => this.#create(command, terms));
  }

  async #create(command: CreatePaymentCommand, terms: ChargeTerms) {
    const { commands } = this.#needs;
    const refusal = await velocityRefusal(this.#needs, command.account, terms);
    if (refusal !== null) return refusal;
    const decide = createCharge({
      terms,
      fingerprintUnder: (version) => fingerprintOf(version, paymentFingerprintFields(command.request)),
      fingerprintVersion: PAYMENT_FINGERPRINT_VERSION,
      instrument: null,
      keyParam: 'idempotencyKey',
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
    if (outcome.reply === 'created') return { payment: assertExists(outcome.state), replayed: false };
    // A replay shows the state at creation, whatever came after (K3).
    const created = await commands.loadAround(PAYMENT, stream, 0);
    if (created === null) throw new Error(`payment ${terms.paymentId} has no creation`);
    return { payment: assertExists(created.after), replayed: true };
  }
}

const termsOf = (command: CreatePaymentCommand, nowMs: number): ChargeTerms => {
  const { request, account } = command;
  return {
    ...commonTerms(command, 'payments.create', request, nowMs),
    methods: request.methods,
    customer: request.customer,
    customerId: request.customerId,
    expectedPayerTaxId: null,
    expiresInSeconds: account.settings.chargeWindowSeconds,
    api: 'payments',
    webhookUrl: request.webhookUrl,
  };
};
