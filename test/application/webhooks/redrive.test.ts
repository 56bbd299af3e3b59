// An interrupted re-drive that continues: no delivery is lost or sent twice (rule W8, architecture §7).

import { expect } from 'chai';
import { CAPABILITIES } from '../../../application/capabilities.ts';
import { jobsOf } from '../../../application/core/capabilityList.ts';
import { metadataForProcess } from '../../../application/core/eventMetadata.ts';
import { enqueueOwedWork } from '../../../application/core/watchdog.ts';
import type { JobRequest } from '../../../application/ports/jobs.ts';
import { ANY_DEAD_LETTER, type RedriveFilter } from '../../../application/ports/redrives.ts';
import { askRedrive, RedriveWorker, redrive, workOffRedrive } from '../../../application/webhooks/redrive.ts';
import type { DeliveryId, EndpointId, RedriveId } from '../../../domain/kernel/ids.ts';
import { WEBHOOK_DELIVERY } from '../../../domain/webhookDelivery/webhookDelivery.ts';
import { WEBHOOK_ENDPOINT } from '../../../domain/webhookEndpoint/webhookEndpoint.ts';
import { parseTimestamp } from '../../support/timestamp.ts';
import { ALL_RETRIES_SECONDS, answering, deliveryIdOf } from '../../world/deliveryFacts.ts';
import { deliveryScene } from '../../world/deliveryScene.ts';
import type { TestGateway } from '../../world/gateway.ts';
import { rawIdOf } from '../../world/http.ts';
import type { Merchant } from '../../world/merchant.ts';
import { poison } from '../../world/poison.ts';
import type { Receiver } from '../../world/receiver.ts';
import { NO_SCHEDULES } from '../../world/withoutWorld.ts';

const COUNT = 3;

describe('a re-drive', () => {
  let gateway: TestGateway;
  let merchant: Awaited<ReturnType<typeof Merchant.open>>;
  let receiver: Receiver;
  let isWell: boolean;
  const receivers = deliveryScene(
    (opened, own) => {
      gateway = opened;
      merchant = own;
    },
    { startSchedule: NO_SCHEDULES },
  );
  beforeEach(async () => {
    isWell = false;
    receiver = await receivers.open(answering(() => (isWell ? 200 : 500)));
    await merchant.register(receiver.url, ['charge.created']);
    await Promise.all(Array.from({ length: COUNT }, () => merchant.charge()));
    await merchant.flushed();
    await merchant.advance(ALL_RETRIES_SECONDS);
    expect((await merchant.deliveries('?status=FAILED')).total).to.equal(COUNT);
    isWell = true;
  });

  const tenant = () => ({ accountId: merchant.tenant.accountId, mode: 'test' as const });
  /** Records a re-drive without its job, so that the test runs it. */
  const asked = (filter: RedriveFilter = ANY_DEAD_LETTER, requestId: string | null = null) => {
    const { needs } = gateway.gateway;
    const caughtUp = async () => ({ head: null, isCaughtUp: true });
    const wanted = { tenant: tenant(), filter, actor: 'operator:test', requestId, isDryRun: false };
    return askRedrive({ ...needs, caughtUp }, false)(wanted);
  };
  const ask = async (): Promise<RedriveId> => {
    const { redriveId, ...counts } = await asked();
    expect(counts).to.deep.equal({ matched: COUNT, queued: COUNT });
    return redriveId!;
  };
  const sentAgain = (tried: number) => receiver.got.slice(tried).map(deliveryIdOf).toSorted();
  const allDelivered = async (): Promise<readonly string[]> => {
    const all = await merchant.untilDeliveries((some) => some.every(({ status }) => status === 'DELIVERED'));
    await merchant.flush();
    return all.map(({ id }) => id).toSorted();
  };
  /** Returns for each retry request of a delivery whether it was a probe. */
  const probesOf = async (id: string): Promise<readonly boolean[]> => {
    const probes: boolean[] = [];
    const stream = WEBHOOK_DELIVERY.stream(rawIdOf(id) as DeliveryId);
    for await (const { type, data } of gateway.storage.store.readStream(stream))
      if (type === 'WebhookDeliveryRetryRequested') probes.push((JSON.parse(data) as { isProbe: boolean }).isProbe);
    return probes;
  };
  const requestsOf = async (id: string) => (await probesOf(id)).length;

  it('continues page by page to its end and is then deleted', async () => {
    const { needs } = gateway.gateway;
    const tried = receiver.got.length;
    const outstanding = await needs.redrives.outstanding();
    const id = await ask();
    expect(await needs.redrives.outstanding()).to.equal(outstanding + COUNT);
    const worker = new RedriveWorker(needs);
    const far: (number | null)[] = [];
    for (let n = 0; n < 4; n++) far.push((await worker.page(id, 1))?.requested ?? null);
    expect([far, worker.sent, await needs.redrives.find(id)]).to.deep.equal([[1, 2, 3, null], COUNT, null]);
    expect(await allDelivered()).to.deep.equal(sentAgain(tried));
  });

  it('is found by the watchdog after an interruption, and retries each delivery once', async () => {
    const { needs } = gateway.gateway;
    const tried = receiver.got.length;
    const id = await ask();
    const cutOff = { ...needs.redrives, advance: () => Promise.reject(new Error('killed')) };
    const first = new RedriveWorker({ ...needs, redrives: cutOff });
    expect(await first.page(id, 1).catch((error: Error) => error.message)).to.equal('killed');
    expect([first.sent, (await needs.redrives.find(id))?.after]).to.deep.equal([1, null]);
    // Deliveries that the first worker retried are skipped: by the read model or, if it lags, by their streams.
    await new RedriveWorker(needs).page(id, 1);
    expect((await needs.redrives.find(id))?.after).to.not.equal(null);
    const jobs = jobsOf(CAPABILITIES).filter(({ kind }) => kind.name === redrive.name);
    expect(await enqueueOwedWork(jobs, needs)).to.deep.equal([]); // The re-drive was active a moment ago.
    await gateway.storage.operations.query(
      "UPDATE operations.redrives SET changed_at = changed_at - interval '61 s' WHERE id = $1",
      [id],
    );
    expect(await enqueueOwedWork(jobs, needs)).to.deep.equal([
      { queue: 'redrive', tenant: tenant(), payload: { redriveId: id } },
    ]);
    const ids = await allDelivered();
    expect(sentAgain(tried)).to.deep.equal(ids);
    for (const one of ids) expect(await requestsOf(one)).to.equal(1);
  });

  it('is run by several short jobs, even two at once', async () => {
    const { needs } = gateway.gateway;
    const tried = receiver.got.length;
    const redriveId = await ask();
    const enqueued: JobRequest[] = [];
    const jobs = { enqueue: async (requests: readonly JobRequest[]) => void enqueued.push(...requests) };
    const work = workOffRedrive({ ...needs, jobs }, { page: 1, pages: 2 });
    await work({ redriveId });
    const next = { queue: 'redrive', tenant: tenant(), payload: { redriveId } };
    expect(enqueued).to.deep.equal([next]);
    await Promise.all([work({ redriveId }), work({ redriveId })]);
    for (let n = 0; n < 3; n++) await work({ redriveId });
    expect(await needs.redrives.find(redriveId)).to.equal(null);
    const ids = await allDelivered();
    expect(sentAgain(tried)).to.deep.equal(ids);
    for (const one of ids) expect(await requestsOf(one)).to.equal(1);
  });

  for (const page of [1, 2, COUNT])
    it(`probes a dead endpoint once when run in pages of ${page}, and holds the others`, async () => {
      const { needs } = gateway.gateway;
      isWell = false;
      await merchant.charge(); // This charge’s delivery is the probe of this minute, and fails.
      await merchant.flushed();
      const tried = receiver.got.length;
      const redriveId = await ask();
      const work = workOffRedrive({ ...needs, jobs: { enqueue: async () => undefined } }, { page, pages: 1 });
      for (let n = 0; n <= COUNT; n++) await work({ redriveId });
      expect(await needs.redrives.find(redriveId)).to.equal(null);
      await merchant.flushed();
      const all = (await merchant.deliveries()).data.filter(({ attempts }) => attempts > 1);
      const probes = await Promise.all(all.map(({ id }) => probesOf(id)));
      expect(probes.toSorted()).to.deep.equal([...Array(COUNT - 1).fill([false]), [true]]);
      expect(all.map(({ attempts }) => attempts).toSorted()).to.deep.equal([...Array(COUNT - 1).fill(15), 16]);
      expect(receiver.got.length).to.equal(tried + 1);
    });

  it('skips dead letters of an inactive endpoint', async () => {
    const { needs } = gateway.gateway;
    const idle = await receivers.open(answering(() => 500));
    const endpoint = await merchant.register(idle.url, ['charge.created']);
    isWell = false;
    await Promise.all(Array.from({ length: COUNT }, () => merchant.charge()));
    await merchant.flushed();
    await merchant.advance(ALL_RETRIES_SECONDS);
    const failed = await merchant.deliveries('?status=FAILED&limit=100');
    expect(failed.total).to.equal(3 * COUNT); // The later charges went to both endpoints.
    const path = `/v1/webhooks/endpoints/${endpoint.id}`;
    const { status, text } = await gateway.call('PATCH', path, { key: merchant.key, body: { status: 'INACTIVE' } });
    expect(status, text).to.equal(200);
    isWell = true;
    const [tried, idleTried] = [receiver.got.length, idle.got.length];
    const { redriveId, ...counts } = await asked();
    expect(counts).to.deep.equal({ matched: 3 * COUNT, queued: 2 * COUNT });
    const worker = new RedriveWorker(needs);
    while ((await worker.page(redriveId!, 2)) !== null);
    expect(worker.sent).to.equal(2 * COUNT);
    // A flush does not wait for deliveries held behind the probe.
    const isDelivered = ({ status }: { status: string }) => status === 'DELIVERED';
    await merchant.untilDeliveries((some) => some.filter(isDelivered).length === 2 * COUNT);
    await merchant.flush();
    const left = await merchant.deliveries('?status=FAILED&limit=100');
    expect(left.data.map(({ endpointId }) => endpointId)).to.deep.equal(Array(COUNT).fill(endpoint.id));
    for (const { id } of left.data) expect(await requestsOf(id)).to.equal(0);
    expect([receiver.got.length - tried, idle.got.length - idleTried]).to.deep.equal([2 * COUNT, 0]);
  });

  it('skips deliveries at their event limit, unless it is requested on the command line', async () => {
    const { needs } = gateway.gateway;
    const [almost, full] = (await merchant.deliveries('?status=FAILED')).data.map(({ id }) => id) as [string, string];
    const at = await needs.accounts.now(merchant.tenant.accountId, 'test');
    for (const [id, events] of [
      [almost, 499],
      [full, 500],
    ] as const) {
      const stream = WEBHOOK_DELIVERY.stream(rawIdOf(id) as DeliveryId);
      const { revision } = await needs.commands.load(WEBHOOK_DELIVERY, stream);
      const more = Array.from({ length: events - revision - 1 }, () => ({
        ...{ type: 'WebhookDeliveryPersonalDataErased' as const, data: { at } },
      }));
      const metadata = metadataForProcess('test', tenant(), id, id);
      await needs.commands.record(WEBHOOK_DELIVERY, stream, () => ({ events: more, reply: null }), metadata);
    }
    const work = async (requestId: string | null): Promise<number> => {
      const worker = new RedriveWorker(needs);
      const { redriveId } = await asked(ANY_DEAD_LETTER, requestId);
      while ((await worker.page(redriveId!, 2)) !== null);
      return worker.sent;
    };
    expect(await work('req_1')).to.equal(COUNT - 1);
    expect([await requestsOf(almost), await requestsOf(full)]).to.deep.equal([1, 0]);
    await merchant.untilDeliveries((some) => some.filter(({ status }) => status === 'DELIVERED').length === COUNT - 1);
    expect(await work(null)).to.equal(1);
    await allDelivered();
  });

  it('skips unreadable deliveries and ends', async () => {
    const { needs } = gateway.gateway;
    const { id } = (await merchant.deliveries('?status=FAILED')).data[1]!;
    await poison(gateway, merchant.tenant, WEBHOOK_DELIVERY.stream(rawIdOf(id) as DeliveryId));
    const redriveId = await ask();
    const worker = new RedriveWorker(needs);
    while ((await worker.page(redriveId, 1)) !== null);
    expect([worker.sent, await needs.redrives.find(redriveId)]).to.deep.equal([COUNT - 1, null]);
    await merchant.untilDeliveries((some) => some.filter(({ status }) => status === 'DELIVERED').length === COUNT - 1);
  });

  it('skips dead letters of an unreadable endpoint', async () => {
    const { needs } = gateway.gateway;
    isWell = false;
    const other = await receivers.open(answering(() => 500));
    const endpoint = await merchant.register(other.url, ['charge.paid']);
    const { id } = await merchant.charge();
    await merchant.pay(id);
    await merchant.flushed();
    await merchant.advance(ALL_RETRIES_SECONDS);
    await poison(gateway, merchant.tenant, WEBHOOK_ENDPOINT.stream(rawIdOf(endpoint.id) as EndpointId));
    const { redriveId, ...counts } = await asked();
    expect(counts).to.deep.equal({ matched: COUNT + 2, queued: COUNT + 1 }); // The new charge went to the first endpoint, too.
    const worker = new RedriveWorker(needs);
    while ((await worker.page(redriveId!, 2)) !== null);
    expect(worker.sent).to.equal(COUNT + 1);
  });

  it('skips deliveries of another re-drive and excludes them from its count', async () => {
    const { needs } = gateway.gateway;
    const tried = receiver.got.length;
    const id = await ask();
    expect(await asked()).to.deep.equal({ matched: COUNT, queued: 0, redriveId: null });
    const first = await needs.redrives.find(id);
    // As if both had been requested at the same time without seeing each other.
    const beside = { ...first!, id: 'z'.repeat(26) as RedriveId };
    await needs.redrives.begin(beside, null);
    const other = new RedriveWorker(needs);
    expect([await other.page(beside.id), other.sent]).to.deep.equal([null, 0]);
    const worker = new RedriveWorker(needs);
    while ((await worker.page(id, 2)) !== null);
    expect(worker.sent).to.equal(COUNT);
    expect(await allDelivered()).to.deep.equal(sentAgain(tried));
  });

  it('takes the dead letter that another re-drive has passed', async () => {
    const { needs } = gateway.gateway;
    const id = await ask();
    const [passed] = await needs.deadLetters.page((await needs.redrives.find(id))!, 1);
    await needs.redrives.advance(id, { scheduledAt: passed!.delivery.scheduledAt, id: passed!.id }, 0);
    const second = await asked();
    expect([second.matched, second.queued]).to.deep.equal([COUNT, 1]);
    const worker = new RedriveWorker(needs);
    while ((await worker.page(second.redriveId!, 2)) !== null);
    expect([worker.sent, await requestsOf(WEBHOOK_DELIVERY.idPrefix + passed!.id)]).to.deep.equal([1, 1]);
  });

  it('retries the rest beside one with a filter', async () => {
    const { redriveId } = await asked({ ...ANY_DEAD_LETTER, eventType: 'charge.paid' });
    expect(redriveId).to.equal(null); // There are no dead letters of this event type.
    const { createdAt } = (await merchant.deliveries('?status=FAILED')).data[0]!;
    const of = { ...ANY_DEAD_LETTER, createdFrom: parseTimestamp(createdAt), createdTo: parseTimestamp(createdAt) };
    const some = await asked(of);
    expect(some.matched).to.be.within(1, COUNT);
    expect(await asked()).to.deep.include({ matched: COUNT, queued: COUNT - some.matched });
  });

  it('skips deliveries that were dead-lettered after its request', async () => {
    const { needs } = gateway.gateway;
    const id = await ask();
    isWell = false;
    const worker = new RedriveWorker(needs);
    const found = await needs.redrives.find(id);
    while ((await worker.page(id, 2)) !== null);
    await merchant.flushed();
    await merchant.advance(2 * ALL_RETRIES_SECONDS);
    const again = (await merchant.deliveries()).data.map(({ status, attempts }) => [status, attempts]);
    expect(again).to.deep.equal(Array(COUNT).fill(['FAILED', 30]));
    await needs.redrives.begin(found!, null); // As if restored from an older backup.
    await new RedriveWorker(needs).page(id);
    for (const { id: one } of (await merchant.deliveries()).data) expect(await requestsOf(one)).to.equal(1);
  });
});
