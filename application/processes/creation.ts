// A charge whose creation was cut between intent and instrument is brought to its end: by a repeat of the request, or by itself (K7).

import { streamName } from '../../domain/kernel/event.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { addMillis, addSeconds, MINUTE_MS, type Timestamp } from '../../domain/kernel/time.ts';
import { failCreation, issueInstrument } from '../../domain/payment/create.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { assertExists } from '../../domain/payment/payment.ts';
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
import type { ProcessManager } from '../ports/processManager.ts';
import { UnknownAtProvider } from './settlement.ts';

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
    if (event.type === 'ChargeCreated') {
      const dueAt = addMillis(event.data.createdAt, PATIENCE_MS);
      return [
        { kind: 'timer', timer: { account, mode, kind: 'resumeCreation', key, group: null, dueAt }, first: true },
      ];
    }
    return event.type === 'ChargePixIssued' || event.type === 'ChargeFailed'
      ? [{ kind: 'clearTimer', timer: { kind: 'resumeCreation', key } }]
      : [];
  },
};

/** What the provider is asked to make for a charge. */
export const instrumentRequest = (
  { charge: { terms } }: ExistingPayment,
  receiver: { receiverName: string; receiverCity: string },
): InstrumentRequest => ({
  paymentId: terms.paymentId,
  accountId: terms.accountId,
  mode: terms.mode,
  txid: terms.txid,
  amount: terms.amount,
  expiresAt: addSeconds(terms.createdAt, terms.expiresInSeconds),
  baseUrl: terms.baseUrl,
  metadata: terms.metadata,
  receiverName: receiver.receiverName,
  receiverCity: receiver.receiverCity,
});

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly providers: PaymentProviders;
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
    if (outcome.kind === 'issued')
      await this.#record(request, issueInstrument(outcome.instrument, await this.#now(request)));
    if (outcome.kind === 'refused') await this.#record(request, failCreation(outcome, await this.#now(request)));
    return outcome.kind;
  }

  /** Handler of one item of the queue `resumeCreation`: a payment id. Throws UnknownAtProvider until the time is up. */
  async resume(item: string): Promise<void> {
    const paymentId = item as PaymentId;
    const { state } = await this.#needs.commands.load(PAYMENT, streamName.payment(paymentId));
    if (state.charge.status !== 'requested') return;
    const { terms } = state.charge;
    const provider = this.#needs.providers.forPix(terms.mode);
    const { settings } = await this.#needs.accounts.get(terms.accountId);
    const request = instrumentRequest(assertExists(state), settings);
    const found = await provider?.findInstrument(request);
    // A test clock that jumped over the timer: it acts at its own instant (X5).
    const at = await this.#needs.accounts.actingAt(
      terms.accountId,
      terms.mode,
      addMillis(terms.createdAt, PATIENCE_MS),
    );
    if (found?.kind === 'known' && found.value !== null) return this.#record(request, issueInstrument(found.value, at));
    const gone = { reason: 'The provider never confirmed the charge.', providerErrorCode: 'not_confirmed' };
    const isOver = (await this.#now(request)) >= addMillis(terms.createdAt, GIVE_UP_MS);
    if (found?.kind === 'known' || isOver) return this.#record(request, failCreation(gone, at));
    throw new UnknownAtProvider(`instrument of charge ${item}`);
  }

  #now({ accountId, mode }: InstrumentRequest): Promise<Timestamp> {
    return this.#needs.accounts.now(accountId, mode);
  }

  async #record(request: InstrumentRequest, decide: ReturnType<typeof issueInstrument>): Promise<void> {
    const { paymentId } = request;
    const why = byProcess('creation', request, paymentId, request.txid);
    const outcome = await this.#needs.commands.execute(PAYMENT, streamName.payment(paymentId), decide, why);
    if (isRejection(outcome)) throw new Error(`instrument of ${paymentId} refused: ${outcome.message}`);
  }
}

/** What may exist already is looked for before it is made. */
const askThenIssue = async (provider: PaymentProvider, request: InstrumentRequest): Promise<InstrumentOutcome> => {
  const found = await provider.findInstrument(request);
  if (found.kind === 'unknown') return { kind: 'unknown' };
  return found.value === null ? provider.issue(request) : { kind: 'issued', instrument: found.value };
};
