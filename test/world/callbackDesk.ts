// A gateway with connections in memory, whose institutions call back over HTTP.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { CAPABILITIES } from '../../application/capabilities.ts';
import { jobsOf } from '../../application/core/capabilityList.ts';
import { enqueueOwedWork } from '../../application/core/watchdog.ts';
import type { CallbackOutcome, ListedCallback } from '../../application/ports/providerCallbacks.ts';
import type { CallbackNeeds } from '../../application/providers/callbacks.ts';
import type { ConnectionId, PaymentId } from '../../domain/kernel/ids.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { fromMillis } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { assertExists } from '../../domain/payment/payment.ts';
import type { ConnectionStatus, ConnectionTerms } from '../../domain/providerConnection/connection.ts';
import type { IncomingPayment } from '../../domain/transaction/incomingPayment.ts';
import { incoming } from '../support/samples.ts';
import { connectionTerms, FakeConnection } from './fakeConnections.ts';
import type { FakeProvider } from './fakeProvider.ts';
import type { Reply, TestGateway } from './gateway.ts';
import { openReady, rawIdOf } from './http.ts';
import { pollUntil } from './pollUntil.ts';

export const newEndToEndId = (): string => `E00000000${randomBytes(12).toString('hex').slice(0, 23)}`;

export interface LiveCharge {
  readonly id: string;
  readonly paymentId: PaymentId;
  readonly txid: string;
}

/** A connection that an operator added, and the secret of its callback URL. */
export interface Connected {
  readonly fake: FakeConnection;
  readonly id: ConnectionId;
  readonly secret: string;
}

const BY = { actor: 'operator:test', requestId: null };

export class CallbackDesk {
  readonly gateway: TestGateway;
  /** The connection that receives the live charges. */
  readonly first: Connected;
  readonly others: readonly Connected[];
  readonly needs: CallbackNeeds;

  private constructor(gateway: TestGateway, [first, ...others]: readonly Connected[]) {
    this.gateway = gateway;
    this.first = first as Connected;
    this.others = others;
    this.needs = gateway.gateway.needs;
  }

  /** Adds a connection with each of these settings. */
  static async open(
    settings: readonly Partial<ConnectionTerms>[] = [{}],
    options: Parameters<typeof openReady>[0] = {},
  ): Promise<CallbackDesk> {
    const fakes = new Map<ConnectionId, FakeConnection>();
    const gateway = await openReady({
      ...options,
      openAdapter: (terms) => {
        const fake = fakes.get(terms.connectionId) ?? new FakeConnection(terms);
        fakes.set(terms.connectionId, fake);
        return fake;
      },
    });
    const { platform } = gateway.gateway.services;
    const added: Connected[] = [];
    for (const [order, over] of settings.entries()) {
      const { connectionId: _, ...terms } = connectionTerms('' as ConnectionId, { order, ...over });
      const done = await platform.addProviderConnection(terms, { clientSecret: 'um segredo', privateKey: null }, BY);
      if (isRejection(done)) throw new Error(done.message);
      const { connectionId: id, callbackUrl } = done;
      await untilStatus(gateway, id, 'enabled');
      await gateway.gateway.needs.providerConnections.open(id);
      const fake = fakes.get(id);
      if (fake === undefined) throw new Error(`connection ${id} was not opened`);
      added.push({ fake, id, secret: callbackUrl.split('/').at(-1) ?? '' });
    }
    return new CallbackDesk(gateway, added);
  }

  get provider(): FakeProvider {
    return this.first.fake.provider;
  }

  /** Switches the first connection, and waits until this process has noticed. */
  async switch(to: 'enabled' | 'draining' | 'disabled'): Promise<void> {
    const done = await this.gateway.gateway.services.platform.switchProviderConnection(this.first.id, to, BY);
    if (isRejection(done)) throw new Error(done.message);
    await untilStatus(this.gateway, this.first.id, to);
  }
  /** Makes a new callback secret for a connection, and waits until it is accepted. Returns it. */
  async rotate({ id }: Connected): Promise<string> {
    const { services, needs, projected } = this.gateway.gateway;
    const done = await services.platform.rotateProviderCallbackSecret(id, BY);
    if (isRejection(done)) throw new Error(done.message);
    const secret = done.callbackUrl.split('/').at(-1) ?? '';
    const look = async () => ((await needs.callbackSecrets.accepts(id, secret)) ? true : null);
    expect(await pollUntil(projected, 20_000, look)).to.equal(true);
    return secret;
  }
  /** Removes a connection without payments, and waits until this process has noticed. */
  async remove({ id }: Connected): Promise<void> {
    const done = await this.gateway.gateway.services.platform.removeProviderConnection(id, BY);
    expect(done).to.equal('removed');
    await untilStatus(this.gateway, id, 'removed');
  }

  /** Creates a charge with a live key. */
  async charge(amount = 1_000): Promise<LiveCharge> {
    const { tenant } = this.gateway;
    const reply = await this.gateway.charge<{ id: string }>({ amount }, { key: tenant.liveKey });
    expect(reply.status, reply.text).to.equal(201);
    const { id } = reply.body;
    const paymentId = rawIdOf(id) as PaymentId;
    const { terms } = assertExists(await this.#payment(paymentId)).charge;
    expect(terms.connectionId).to.equal(this.first.id);
    return { id, paymentId, txid: terms.txid };
  }

  /** Records a Pix in the institution's books, and returns its end-to-end id. */
  paid({ txid }: Pick<LiveCharge, 'txid'>, over: Partial<IncomingPayment> = {}): string {
    const providerPaymentId = newEndToEndId();
    const paidAt = fromMillis(Date.now());
    const pix = incoming({ providerPaymentId, amount: toMinor(1_000), paidAt, ...over });
    const { incomingPayments } = this.provider;
    incomingPayments.set(txid, [...(incomingPayments.get(txid) ?? []), pix]);
    return pix.providerPaymentId;
  }

  /** Sends a callback. A body that is not text or bytes is sent as JSON. */
  call(
    body: unknown,
    { connection = this.first, secret = connection.secret, end = '', headers = {} }: CallOptions = {},
  ): Promise<Reply<unknown>> {
    const raw = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const path = `/providers/pc_${connection.id}/${secret}${end}`;
    return this.gateway.call('POST', path, { raw: raw as string, key: null, headers });
  }
  /** Sends a callback about these Pix, and expects it to be stored. */
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
    return (await this.needs.callbackReads.list({ connectionId: this.first.id, outcome }, 1_000)).callbacks;
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

  /** Makes every callback `ms` milliseconds older. */
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
    const found = await enqueueOwedWork(jobsOf(CAPABILITIES), needs);
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

/** Waits until this process sees the connection in this status. Rejects after 20 s. */
const untilStatus = async (
  { gateway: { needs, projected } }: TestGateway,
  id: ConnectionId,
  status: ConnectionStatus,
): Promise<void> => {
  const look = async () => ((await needs.providerConnections.statusOf(id)) === status ? true : null);
  expect(await pollUntil(projected, 20_000, look)).to.equal(true);
};

interface CallOptions {
  readonly connection?: Connected;
  readonly secret?: string;
  readonly end?: '' | '/pix';
  readonly headers?: Record<string, string>;
}
