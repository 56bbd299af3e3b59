// A gateway with connections in memory, whose institutions call back over HTTP.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { CAPABILITIES } from '../../application/capabilities.ts';
import { capability } from '../../application/core/capability.ts';
import { jobsOf } from '../../application/core/capabilityList.ts';
import { enqueueOwedWork } from '../../application/core/watchdog.ts';
import type { JobQueue } from '../../application/ports/jobs.ts';
import type { CallbackOutcome, ListedCallback } from '../../application/ports/providerCallbacks.ts';
import {
  type CallbackNeeds,
  callbackGauges,
  callbackJobs,
  callbackUpkeep,
  callbackUseCases,
} from '../../application/providers/callbacks.ts';
import type { ConnectionId, PaymentId } from '../../domain/kernel/ids.ts';
import { encodeRawId } from '../../domain/kernel/ids.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import { fromMillis } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { assertExists } from '../../domain/payment/payment.ts';
import type { IncomingPayment } from '../../domain/transaction/incomingPayment.ts';
import { type CertificateHeader, providerCaller } from '../../http/api/providers/callbackCaller.ts';
import { CALLBACK_ROUTES } from '../../http/api/providers/callbacks.ts';
import { extension } from '../../infrastructure/boot/gateway.ts';
import { type Log, openLog } from '../../infrastructure/log/log.ts';
import { callbackAdapters } from '../../infrastructure/providers/callbackAdapters.ts';
import { incoming } from '../support/samples.ts';
import { type FakeConnection, FakeConnections } from './fakeConnections.ts';
import type { Reply, TestGateway } from './gateway.ts';
import { openReady, rawIdOf } from './http.ts';
import { pollUntil } from './pollUntil.ts';

const callbacks = capability({
  name: 'callbacks',
  parts: (needs: CallbackNeeds) => needs,
  jobs: callbackJobs,
  upkeep: callbackUpkeep,
  gauges: callbackGauges,
  useCases: callbackUseCases,
});

export const newConnectionId = (): ConnectionId => {
  const bytes = randomBytes(16);
  return encodeRawId(bytes) as ConnectionId;
};
export const newEndToEndId = (): string => `E00000000${randomBytes(12).toString('hex').slice(0, 23)}`;

export const SECRET = 'segredo-do-callback-4f6d1c0e9b7a';

export interface LiveCharge {
  readonly id: string;
  readonly paymentId: PaymentId;
  readonly txid: string;
}

interface DeskOptions {
  readonly log?: Log;
  readonly certificateHeader?: CertificateHeader;
  readonly others?: readonly FakeConnection[];
  readonly gateway?: Parameters<typeof openReady>[0];
}

export class CallbackDesk {
  readonly gateway: TestGateway;
  readonly connection: FakeConnection;
  readonly needs: CallbackNeeds;

  private constructor(gateway: TestGateway, connection: FakeConnection) {
    this.gateway = gateway;
    this.connection = connection;
    this.needs = gateway.gateway.needs as unknown as CallbackNeeds;
  }

  /** Charges of live keys are issued by the first connection. */
  static async open(
    connection: FakeConnection,
    { log = openLog('silent'), certificateHeader, others = [], gateway = {} }: DeskOptions = {},
  ): Promise<CallbackDesk> {
    const connections = new FakeConnections(connection, ...others);
    let jobs: JobQueue | null = null;
    const late: Pick<JobQueue, 'enqueue' | 'wake'> = {
      enqueue: (...args) => (jobs as JobQueue).enqueue(...args),
      wake: (...args) => jobs?.wake(...args),
    };
    const opened = await openReady({
      ...gateway,
      log,
      liveProvider: connection.provider,
      // The rest of the needs is the gateway's own.
      extension: extension<CallbackNeeds>(
        [callbacks],
        (storage) =>
          ({
            providerConnections: connections,
            callbackSecrets: connections,
            ...callbackAdapters({ storage, jobs: late as JobQueue, log }),
          }) as unknown as CallbackNeeds,
      ),
      moreRoutes: CALLBACK_ROUTES,
      authenticators: { provider: providerCaller({ callbackSecrets: connections }, certificateHeader ?? null) },
    });
    jobs = opened.gateway.jobs;
    return new CallbackDesk(opened, connection);
  }

  /** Creates a charge with a live key. */
  async charge(amount = 1_000): Promise<LiveCharge> {
    const { tenant } = this.gateway;
    const reply = await this.gateway.charge<{ id: string }>({ amount }, { key: tenant.liveKey });
    expect(reply.status, reply.text).to.equal(201);
    const { id } = reply.body;
    const paymentId = rawIdOf(id) as PaymentId;
    const { terms } = assertExists(await this.#payment(paymentId)).charge;
    expect(terms.connectionId).to.equal(this.connection.terms.connectionId);
    return { id, paymentId, txid: terms.txid };
  }

  /** Records a Pix in the institution's books, and returns its end-to-end id. */
  paid({ txid }: Pick<LiveCharge, 'txid'>, over: Partial<IncomingPayment> = {}): string {
    const providerPaymentId = newEndToEndId();
    const paidAt = fromMillis(Date.now());
    const pix = incoming({ providerPaymentId, amount: toMinor(1_000), paidAt, ...over });
    const { incomingPayments } = this.connection.provider;
    incomingPayments.set(txid, [...(incomingPayments.get(txid) ?? []), pix]);
    return pix.providerPaymentId;
  }

  /** Calls back. A body that is not a text is sent as JSON. */
  call(
    body: unknown,
    { connection = this.connection, secret = connection.secrets[0] ?? '', end = '', headers = {} }: CallOptions = {},
  ): Promise<Reply<unknown>> {
    const raw = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const path = `/providers/pc_${connection.terms.connectionId}/${secret}${end}`;
    return this.gateway.call('POST', path, { raw: raw as string, key: null, headers });
  }
  /** Calls back about these Pix, and expects the answer of a stored callback. */
  async told(...pix: readonly { readonly endToEndId: string; readonly txid?: string }[]): Promise<void> {
    const { status, body, text } = await this.call({ pix });
    expect([status, body], text).to.deep.equal([200, {}]);
  }

  /** Returns the ids of the stored callbacks, oldest first. */
  async ids(): Promise<readonly string[]> {
    const text = 'SELECT id FROM operations.provider_callbacks ORDER BY id';
    return (await this.gateway.storage.operations.query<{ id: number }>(text)).rows.map(({ id }) => String(id));
  }
  /** Returns the callbacks with this outcome, or all that wait for an operator, newest first. */
  async listed(outcome: CallbackOutcome | null = null): Promise<readonly ListedCallback[]> {
    const connectionId = this.connection.terms.connectionId;
    return (await this.needs.callbackReads.list({ connectionId, outcome }, 1_000)).callbacks;
  }

  /** Returns the outcome and the reasons of every callback, oldest first. */
  async outcomes(): Promise<readonly (readonly [CallbackOutcome | null, ...string[]])[]> {
    const { rows } = await this.gateway.storage.operations.query<{ outcome: CallbackOutcome | null; findings: string }>(
      'SELECT outcome, findings FROM operations.provider_callbacks ORDER BY id',
    );
    return rows.map(({ outcome, findings }) => [
      outcome,
      ...(JSON.parse(findings) as { because: string }[]).map(({ because }) => because),
    ]);
  }
  /** Waits until every callback is handled. Rejects after 20 s. */
  async untilHandled(): Promise<readonly (readonly [CallbackOutcome | null, ...string[]])[]> {
    const { jobs } = this.gateway.gateway;
    const look = async () => {
      const outcomes = await this.outcomes();
      return outcomes.some(([outcome]) => outcome === null) ? null : outcomes;
    };
    const found = await pollUntil({ onMove: (listener) => jobs.onSettled(listener) }, 20_000, look);
    if (found === null) throw new Error(`not within 20 s: ${JSON.stringify(await this.outcomes())}`);
    return found;
  }

  /** Returns the end-to-end ids and outcomes of the payments received for the charge. */
  async received({ paymentId }: LiveCharge): Promise<readonly string[]> {
    const { transaction } = await this.#payment(paymentId);
    return transaction.incomingPayments.map(({ providerPaymentId, outcome }) => `${providerPaymentId} ${outcome}`);
  }
  /** Waits until the charge has received these. Rejects after 20 s. */
  async untilReceived(charge: LiveCharge, ...expected: readonly string[]): Promise<void> {
    const look = async () => ((await this.received(charge)).join() === expected.join() ? true : null);
    const found = await pollUntil(this.gateway.gateway.projected, 20_000, look);
    if (found === null) throw new Error(`not within 20 s: ${await this.received(charge)}`);
  }

  /** Makes every callback so many milliseconds older. */
  async age(ms: number): Promise<void> {
    await this.gateway.storage.operations.query(
      `UPDATE operations.provider_callbacks SET received_at = received_at - $1 * interval '1 ms',
        handled_at = handled_at - $1 * interval '1 ms', resolved_at = resolved_at - $1 * interval '1 ms'`,
      [ms],
    );
  }
  /** Looks for owed work once, as the watchdog does. Returns the queues of the jobs that it started. */
  async watch(): Promise<readonly string[]> {
    const { needs, jobs } = this.gateway.gateway;
    const found = await enqueueOwedWork(jobsOf([...CAPABILITIES, callbacks as never]), needs);
    jobs.wake(found);
    return found.map(({ queue }) => queue);
  }

  #payment(id: PaymentId) {
    return this.gateway.gateway.commands.load(PAYMENT, PAYMENT.stream(id)).then(({ state }) => state);
  }
  close(): Promise<void> {
    return this.gateway.close();
  }
}

interface CallOptions {
  readonly connection?: FakeConnection;
  readonly secret?: string;
  readonly end?: '' | '/pix';
  readonly headers?: Record<string, string>;
}
