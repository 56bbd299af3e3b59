// 40 clients create and pay charges with one endpoint, while the whole process group is killed with SIGKILL at random points of the
// deliveries. The caller checks the returned report.
import { randomBytes } from 'node:crypto';
import { CountingReceiver } from '../world/countingReceiver.ts';
import { KillableGateway } from '../world/killableGateway.ts';

const CLIENTS = 40;
const GIVE_UP_MS = 60_000;

/** The events that an endpoint with `*` receives for a charge that is created and paid. */
const MESSAGES = ['charge.created', 'payment.created', 'charge.paid', 'payment.completed', 'payment.status_changed'];

export interface DeliveriesReport {
  readonly deliveries: number;
  /** Numbers of deliveries after which the program was killed. */
  readonly killedAt: readonly number[];
  readonly missing: readonly string[];
  /** Deliveries with more than one `X-Acme-Delivery-Id`, or with the `webhook-id` of another delivery. */
  readonly doubled: number;
  /** Requests after the first one of each delivery. */
  readonly duplicates: number;
  /** Repeated requests whose event id or body differs from the first request. */
  readonly changed: readonly string[];
  /** Number of deliveries by status, as the API reports them. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly differences: readonly unknown[];
}

export const killDeliveries = async (charges: number, kills: number): Promise<DeliveriesReport> => {
  const deliveries = charges * MESSAGES.length;
  const receiver = await CountingReceiver.open();
  const gateway = await KillableGateway.open(GIVE_UP_MS * (kills + 2) + deliveries * 20);
  try {
    await gateway.insist('POST', '/v1/webhooks/endpoints', { url: receiver.url, events: ['*'] });
    const ids: string[] = [];
    let begun = 0;
    const client = async (): Promise<void> => {
      while (begun++ < charges) {
        const key = `kill-${randomBytes(9).toString('hex')}`;
        const created = await gateway.insist('POST', '/v1/charges', { amount: 1_000, payment_method: 'pix' }, key);
        if (created.status !== 201) throw new Error(`a charge was refused: ${created.status} ${created.text}`);
        const { id } = JSON.parse(created.text) as { id: string };
        const paid = await gateway.insist('POST', `/v1/sandbox/charges/${id}/pay`, {});
        if (paid.status > 202) throw new Error(`a payment was refused: ${paid.status} ${paid.text}`);
        ids.push(id.slice('ch_'.length));
      }
    };
    const selling = Promise.all(Array.from({ length: CLIENTS }, client));
    const killedAt = Array.from({ length: kills }, () => Math.ceil(Math.random() * deliveries)).sort((a, b) => a - b);
    const killing = async (): Promise<void> => {
      for (const point of killedAt) {
        await receiver.reached(point);
        await gateway.killAndRestart();
      }
    };
    await Promise.all([selling, killing()]);
    await gateway.flushDeliveries();
    return { ...(await reportOf(gateway, receiver, ids)), killedAt };
  } finally {
    await gateway.close();
    receiver.close();
  }
};

const STATUSES = ['PENDING', 'PROCESSING', 'DELIVERED', 'FAILED', 'CANCELLED'];

const reportOf = async (
  gateway: KillableGateway,
  receiver: CountingReceiver,
  ids: readonly string[],
): Promise<Omit<DeliveriesReport, 'killedAt'>> => {
  const { deliveries, eventIds, duplicates, changed, events } = await receiver.arrivals();
  const came = new Set(events);
  const expected = ids.flatMap((id) => MESSAGES.map((message) => `${message} ${id}`));
  const statuses: Record<string, number> = {};
  for (const status of STATUSES) {
    const { text } = await gateway.insist('GET', `/v1/webhooks/deliveries?status=${status}&limit=1`);
    const { total } = JSON.parse(text) as { total: number };
    if (total > 0) statuses[status] = total;
  }
  const { differences } = (await gateway.cli(['projections', 'verify'])) as { differences: unknown[] };
  return {
    deliveries,
    missing: expected.filter((name) => !came.has(name)),
    doubled: deliveries - came.size + (deliveries - eventIds),
    duplicates,
    changed,
    statuses,
    differences,
  };
};
