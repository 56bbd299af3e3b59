// After an erasure has returned, folds of earlier events reveal nothing either: the command itself destroys the key. No worker runs here,
// so nothing else can have done it. The worker completes erasures whose command was interrupted (rule L2).
import { expect } from 'chai';
import { metadataForChange } from '../../../../application/core/eventMetadata.ts';
import { completeErasureOf } from '../../../../application/privacy/erasureWork.ts';
import type { DeliveryId, PaymentId } from '../../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../../domain/payment/aggregate.ts';
import { erasePayment } from '../../../../domain/payment/erase.ts';
import { WEBHOOK_DELIVERY } from '../../../../domain/webhookDelivery/webhookDelivery.ts';
import { at } from '../../../support/samples.ts';
import { newKey, startedDatabase, TestGateway } from '../../../world/gateway.ts';
import { openReady, rawIdOf } from '../../../world/http.ts';
import { type Body, Merchant } from '../../../world/merchant.ts';
import { poison } from '../../../world/poison.ts';
import { pollUntil } from '../../../world/pollUntil.ts';
import type { TestDatabase } from '../../../world/postgres.ts';
import { Receiver } from '../../../world/receiver.ts';

const CUSTOMER = { name: 'Ana Souza', document: '39053344705', email: 'ana@example.com', phone: '+5511973571113' };
const NOBODY = { name: null, document: null, email: null, phone: null };
const ORDER = { reason: 'request 17', despiteRetention: true };

describe('an erasure that has returned (L2)', () => {
  let database: TestDatabase;
  let receiver: Receiver;
  let gateway: TestGateway;
  let merchant: Merchant;
  let operator: { readonly authorization: string };
  /** Idempotency keys by charge. */
  const charges = new Map<string, string>();

  before(async () => {
    database = await startedDatabase();
    receiver = await Receiver.open();
    const works = await openReady({ database });
    merchant = await Merchant.open(works);
    await merchant.register(receiver.url, ['charge.created']);
    for (const key of [newKey(), newKey(), newKey()]) {
      const { body } = await works.charge<{ id: string }>({ customer: CUSTOMER }, { ...merchant, idempotencyKey: key });
      await merchant.pay(body.id);
      charges.set(body.id, key);
    }
    await merchant.flush();
    await works.untilProjected();
    await works.close();
    gateway = await TestGateway.open({ database, roles: { serves: true, projects: true, works: false } });
    await gateway.untilProjected();
    merchant = new Merchant(gateway, merchant.key);
    operator = await gateway.logIn('OPERATOR', await gateway.addUser('OPERATOR'));
  });
  after(async () => {
    await gateway.close();
    await receiver.close();
    await database.drop();
  });

  const [one, two, three] = [0, 1, 2].map((n) => () => [...charges.keys()][n] as string) as [
    () => string,
    () => string,
    () => string,
  ];
  /** Returns the customer in a replay of the creation and in the payload of its webhook. */
  const shown = async (id: string): Promise<readonly unknown[]> => {
    const options = { ...merchant, idempotencyKey: charges.get(id) as string };
    const { headers, body } = await gateway.charge<Body>({ customer: CUSTOMER }, options);
    expect(headers.get('idempotent-replayed')).to.equal('true');
    const { data } = await merchant.deliveries();
    const objects = data.map(({ payload }) => (payload['data'] as { object: Body }).object);
    return [body['customer'], objects.find((object) => object['id'] === id)?.['customer']];
  };
  const erase = async (id: string): Promise<unknown> => {
    const { status, body, text } = await gateway.call<{ data: readonly { outcome: string }[] }>(
      'POST',
      '/ops/v1/privacy/erase',
      { key: null, headers: operator, body: { payment: id, ...ORDER } },
    );
    expect(status, text).to.equal(200);
    return body.data.map(({ outcome }) => outcome);
  };
  /** Records only the event, like a command that is killed before it destroys the key. */
  const interrupt = async (id: string): Promise<void> => {
    const payment = rawIdOf(id) as PaymentId;
    const wish = { by: 'operator:ana', retentionYears: 0, ...ORDER };
    const { accountId, mode } = (await gateway.gateway.services.findKey(merchant.key))!;
    const metadata = { ...metadataForChange({ actor: wish.by, requestId: null }, accountId, payment), mode };
    await gateway.gateway.commands.record(
      PAYMENT,
      PAYMENT.stream(payment),
      erasePayment(wish, at('20:00:00')),
      metadata,
    );
  };

  it('removes the person from replays and webhook payloads', async () => {
    expect(await shown(one())).to.deep.equal([CUSTOMER, CUSTOMER]);
    expect(await erase(one())).to.deep.equal(['erased']);
    expect(await shown(one())).to.deep.equal([NOBODY, NOBODY]);
  });

  it('removes the person too when an interrupted erasure is repeated', async () => {
    await interrupt(two());
    expect(await shown(two())).to.deep.equal([CUSTOMER, CUSTOMER]);
    expect(await erase(two())).to.deep.equal(['erased_before']);
    expect(await shown(two())).to.deep.equal([NOBODY, NOBODY]);
  });

  it('is completed by a worker if it was interrupted and not repeated', async () => {
    await interrupt(three());
    await gateway.close();
    gateway = await openReady({ database });
    merchant = new Merchant(gateway, merchant.key);
    const destroyed = 'SELECT FROM privacy.data_keys WHERE owner = $1 AND destroyed_at IS NOT NULL';
    const look = async () => {
      const { rowCount } = await gateway.storage.operations.query(destroyed, [rawIdOf(three())]);
      return rowCount === 1 ? true : null;
    };
    expect(await pollUntil(gateway.gateway.projected, 20_000, look)).to.equal(true);
    expect(await shown(three())).to.deep.equal([NOBODY, NOBODY]);
  });

  it('is completed beside an unreadable delivery and logged, and its job then fails', async () => {
    const sick = rawIdOf((await merchant.deliveries()).data[0]!.id) as DeliveryId;
    const { accountId } = (await gateway.gateway.services.findKey(merchant.key))!;
    await poison(gateway, { accountId }, WEBHOOK_DELIVERY.stream(sick));
    const { needs } = gateway.gateway;
    const done: string[] = [];
    const complete = completeErasureOf({
      ...needs,
      personalDeliveries: { withResponse: async () => [sick] },
      personalRecords: { erase: async ({ paymentId }) => void done.push(`blanked ${paymentId}`) },
      onErased: (id) => done.push(`logged ${id}`),
    });
    const owner = rawIdOf(three());
    const failure = await complete({ kind: 'payment', owner }).catch(({ name }: Error) => name);
    expect([failure, done]).to.deep.equal(['StreamUnreadable', [`blanked ${owner}`, `logged tx_${owner}`]]);
  });
});
