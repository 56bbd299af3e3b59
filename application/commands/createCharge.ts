// POST /v1/charges and POST /v1/pix/charges: one operation (K1). The intent is stored before any outside call (K7).
import { hash } from 'node:crypto';
import type { OpenAccount } from '../../domain/account/account.ts';
import { accountTime } from '../../domain/account/account.ts';
import type { ChargeTerms } from '../../domain/charge/charge.ts';
import { CHARGE_FINGERPRINT_VERSION, type ChargeRequest, canonicalRequest } from '../../domain/charge/request.ts';
import { streamName } from '../../domain/kernel/event.ts';
import type { Mode } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { type Creation, createCharge } from '../../domain/payment/create.ts';
import { assertExists, type ExistingPayment, type PaymentState } from '../../domain/payment/payment.ts';
import type { Accounts } from '../accounts.ts';
import { PAYMENT } from '../aggregates.ts';
import type { CommandHandler, Outcome } from '../commandHandler.ts';
import { paymentIds } from '../ids.ts';
import { KeyedLock } from '../keyedLock.ts';
import type { Clock } from '../ports/clock.ts';
import type { PaymentProvider, PaymentProviders } from '../ports/paymentProvider.ts';
import { type CreationProcess, instrumentRequest } from '../processes/creation.ts';

export interface CreateChargeCommand {
  readonly account: OpenAccount;
  readonly mode: Mode;
  readonly request: ChargeRequest;
  readonly idempotencyKey: string;
  readonly baseUrl: string;
  readonly actor: string;
  readonly requestId: string;
}

/** The provider can't be reached, or did not say. The same key resumes the creation (K7). */
export class ProviderUnavailable extends Error {
  override name = 'ProviderUnavailable';
}

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly providers: PaymentProviders;
  readonly creation: CreationProcess;
}

/** Longest wait for another request with the same key (K4). */
const WAIT_FOR_TWIN_MS = 10_000;

export class CreateChargeHandler {
  readonly #needs: Needs;
  readonly #running = new KeyedLock();

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** The charge as it was created, and whether it had been before. Throws ProviderUnavailable. */
  async handle(command: CreateChargeCommand): Promise<{ payment: ExistingPayment; replayed: boolean } | Rejection> {
    const provider = this.#needs.providers.forPix(command.mode);
    if (provider === null)
      return reject('unprocessable_entity', 'No payment provider is configured for Pix in live mode.');
    const { paymentId, txid } = paymentIds(
      command.account.idSeed,
      command.mode,
      'charges.create',
      command.idempotencyKey,
    );
    const terms = termsOf(command, paymentId, txid, this.#needs.clock.now());
    // The common case runs alone; a twin waits here, with a bound, for the first one's provider call.
    if (!this.#running.isBusy(paymentId))
      return this.#running.run(paymentId, () => this.#create(command, terms, provider));
    return withinTime(this.#running.run(paymentId, () => this.#create(command, terms, provider)));
  }

  async #create(command: CreateChargeCommand, terms: ChargeTerms, provider: PaymentProvider) {
    const { commands } = this.#needs;
    const draft = { charge: { status: 'requested', terms, fingerprint: { version: 0, hash: '' } } } as ExistingPayment;
    const decide = createCharge({
      terms,
      fingerprintUnder: (version) => hash('sha256', canonicalRequest(command.request, version), 'base64url'),
      fingerprintVersion: CHARGE_FINGERPRINT_VERSION,
      instrument: provider.issueLocally(instrumentRequest(draft, command.account.settings)),
    });
    const { accountId, mode, paymentId } = terms;
    const { actor, requestId } = command;
    const why = { account: accountId, mode, actor, requestId, correlationId: paymentId, causationId: requestId };
    const outcome = await commands.execute(PAYMENT, streamName.payment(paymentId), decide, why, { creates: true });
    if (isRejection(outcome)) return outcome;
    // Resuming what was cut off is the first answer of a charge, not a replay of one.
    const replayed = outcome.reply === 'replayed' && outcome.state.charge.status !== 'requested';
    if (outcome.reply === 'created' && outcome.state.charge.status === 'open')
      return { payment: assertExists(outcome.state), replayed };
    return { payment: await this.#asCreated(outcome, provider), replayed };
  }

  /** The payment as its creation left it: issued or failed, whatever came after (K3). Still cut off: the provider is asked now. */
  async #asCreated(outcome: Outcome<PaymentState, Creation>, provider: PaymentProvider): Promise<ExistingPayment> {
    const { commands, accounts, creation } = this.#needs;
    const { terms } = assertExists(outcome.state).charge;
    const stream = streamName.payment(terms.paymentId);
    if (outcome.state.charge.status === 'requested') {
      const { settings } = await accounts.get(terms.accountId);
      const request = instrumentRequest(assertExists(outcome.state), settings);
      const kind = await creation.issue(provider, request, outcome.reply === 'replayed');
      if (kind === 'unknown' || kind === 'unavailable')
        throw new ProviderUnavailable(
          'The payment provider did not answer. Repeat the request with the same Idempotency-Key.',
        );
    }
    const created = await commands.loadAround(PAYMENT, stream, 1);
    if (created === null) throw new Error(`charge ${terms.paymentId} was not brought to its end`);
    return assertExists(created.after);
  }
}

const termsOf = (
  { account, mode, request, baseUrl }: CreateChargeCommand,
  paymentId: ChargeTerms['paymentId'],
  txid: string,
  nowMs: number,
): ChargeTerms => ({
  paymentId,
  accountId: account.accountId,
  mode,
  amount: request.amount,
  currency: request.currency,
  methods: ['PIX'],
  customer: request.customer,
  customerId: null,
  metadata: request.metadata,
  expectedPayerTaxId: request.expectedPayerTaxId,
  expiresInSeconds: request.expiresInSeconds ?? account.settings.chargeWindowSeconds,
  txid,
  baseUrl,
  createdAt: accountTime(account, mode, nowMs),
});

const withinTime = <T>(work: Promise<T>): Promise<T | Rejection> => {
  const late = reject('idempotency_request_in_progress', 'A request with this Idempotency-Key is still running.', {
    param: 'Idempotency-Key',
  });
  work.catch(() => undefined); // after the time-out nobody waits for it any more
  let timer: NodeJS.Timeout;
  const timeout = new Promise<Rejection>((resolve) => {
    timer = setTimeout(() => resolve(late), WAIT_FOR_TWIN_MS);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
};
