// A target that recovers while a clock is drained gets all its held deliveries at that instant (rules W3, X5).
import { expect } from 'chai';
import { deliveryScene } from '../../../world/deliveryScene.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import type { Merchant } from '../../../world/merchant.ts';

/** More deliveries than one page of timers. */
const CHARGES = 640;
const PAGE_SECONDS = 3;

describe('the test clock with a target that recovers', () => {
  let gateway: TestGateway;
  let merchant: Awaited<ReturnType<typeof Merchant.open>>;
  const receivers = deliveryScene((opened, own) => {
    gateway = opened;
    merchant = own;
  });

  /** Keeps the next firing for PAGE_SECONDS, as a slow worker would. */
  const delayFiring = async (): Promise<void> => {
    const { operations } = gateway.storage;
    for (let isKept = false; !isKept; )
      isKept = await operations.transaction(async (tx) => {
        const { rowCount } = await tx.query('SELECT FROM operations.group_firings FOR UPDATE SKIP LOCKED');
        if (rowCount === 1) await tx.query(`SELECT pg_sleep(${PAGE_SECONDS})`);
        return rowCount === 1;
      });
  };
  /** Returns the instants of the deliveries. */
  const deliveredAt = async (): Promise<ReadonlySet<string>> => {
    const instants = new Set<string>();
    const all = { after: null, categories: ['webhookDelivery'], signal: new AbortController().signal };
    for await (const batch of gateway.storage.store.subscribe(all)) {
      if (batch.kind === 'caughtUp') break;
      for (const { type, data } of batch.kind === 'events' ? batch.events : [])
        if (type === 'WebhookDeliverySucceeded') instants.add((JSON.parse(data) as { at: string }).at);
    }
    return instants;
  };

  it('makes the deliveries of all pages at the instant of the recovery, however slowly the pages are fired', async () => {
    let status = 500;
    const receiver = await receivers.open((_hit, res) => void res.writeHead(status).end());
    await merchant.register(receiver.url, ['charge.created']);
    for (let n = 0; n < CHARGES; n += 20) await Promise.all(Array.from({ length: 20 }, () => merchant.charge()));
    await gateway.post('/v1/sandbox/deliveries/flush', {}, merchant);
    status = 200;
    await Promise.all([delayFiring(), merchant.advance(86_400)]);
    expect((await deliveredAt()).size).to.equal(1);
  });
});
