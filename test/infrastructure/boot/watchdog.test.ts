// Work that nobody is doing is found and done: a lost job is never lost work (design §7).
import { expect } from 'chai';
import type { JobRequest } from '../../../application/ports/jobs.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { fromMillis } from '../../../domain/kernel/time.ts';
import { makeEndToEndId } from '../../../domain/pix/endToEndId.ts';
import { pump } from '../../../infrastructure/boot/watchdog.ts';
import { providerNotifications } from '../../../infrastructure/processes/providerNotifications.ts';
import { RefundDesk } from '../../http/refundDesk.ts';
import { rawIdOf } from '../../http/support.ts';
import { TestGateway } from '../../support/gateway.ts';

const HOUR_MS = 3_600_000;

describe('the watchdog', () => {
  let test: TestGateway;
  before(async () => {
    test = await TestGateway.open();
  });
  after(() => test.close());

  const run = async (now = Date.now()): Promise<readonly JobRequest[]> => {
    const { storage, gateway } = test;
    const found: JobRequest[] = [];
    const notifications = providerNotifications(storage.operations, gateway.jobs);
    await gateway.projected.caughtUp(2_000);
    await pump({
      db: storage.reads,
      jobs: gateway.jobs,
      notifications,
      now: () => now,
      onFound: (jobs) => found.push(...jobs),
      onError: (error) => {
        throw error;
      },
    });
    return found;
  };
  const settled = (id: string) =>
    new Promise<string>((resolve) => {
      const undo = test.gateway.projected.onMove(async () => {
        const { body } = await test.get<{ status: string }>(`/v1/charges/${id}`);
        if (body.status === 'pending') return;
        undo();
        resolve(body.status);
      });
    });

  it('finds nothing where all is well', async () => {
    await test.charge();
    expect(await run()).to.deep.equal([]);
  });

  it('settles a Pix whose job was lost', async () => {
    const { body } = await test.charge<{ id: string; pix: { txid: string } }>();
    const [raw, account] = [body.id.slice('ch_'.length), test.tenant.accountId];
    const endToEndId = makeEndToEndId({ ispb: '99999004', at: fromMillis(Date.now()), suffix: 'lost0000000' });
    const { operations } = test.storage;
    await operations.query(
      `INSERT INTO sandbox_bank.payments (account_id, end_to_end_id, txid, amount, paid_at) VALUES ($1, $2, $3, $4, now())`,
      [account, endToEndId, body.pix.txid, toMinor(1234)],
    );
    await operations.query(
      `INSERT INTO operations.provider_notifications (account_id, mode, reference, payment_id, raw, received_at)
       VALUES ($1, 'test', $2, $3, '{}', now() - interval '10 minutes')`,
      [account, endToEndId, raw],
    );
    const paid = settled(body.id);
    expect(await run()).to.deep.equal([{ queue: 'settle', item: `${account}/test/${endToEndId}` }]);
    expect(await paid).to.equal('paid');
    expect(await run()).to.deep.equal([]);
  });

  it('goes on with refunds whose jobs were lost, each of them, and leaves alone those that the bank works on', async () => {
    const { storage, gateway } = test;
    const desk = await RefundDesk.open(test);
    const charge = await desk.paid(100);
    for (const amount of [1, 2, 3]) await desk.refund(charge, { amount });
    await desk.untilStatuses(charge, 'IN_PROGRESS', 'IN_PROGRESS', 'IN_PROGRESS');
    const items = (await desk.list(charge)).map(({ id }) => `${rawIdOf(charge)}:${rawIdOf(id)}`);
    const refundsFound = async () =>
      (await run(Date.now() + HOUR_MS)).filter(({ queue }) => queue === 'refund').map(({ item }) => item);
    expect(await gateway.reacted.caughtUp(2_000)).to.equal(true);
    expect(await refundsFound()).to.deep.equal([]);
    const [one, other] = items as [string, string];
    await storage.operations.query("DELETE FROM operations.timers WHERE kind = 'refund' AND key = ANY($1)", [
      [one, other],
    ]);
    await storage.operations.query('UPDATE sandbox_bank.refunds SET status = $1 WHERE refund_id = ANY($2)', [
      'confirmed',
      [one, other].map((item) => item.slice(27)),
    ]);
    expect((await refundsFound()).toSorted()).to.deep.equal([one, other].toSorted());
    await desk.untilStatuses(charge, 'REFUNDED', 'REFUNDED', 'IN_PROGRESS');
    expect(await refundsFound()).to.deep.equal([]);
  });

  it('asks for the expiry of a charge that should have expired', async () => {
    const { body } = await test.charge<{ id: string }>({ expires_in: 3600 });
    const found = await run(Date.now() + 2 * HOUR_MS);
    expect(found).to.deep.include({ queue: 'expire', item: body.id.slice('ch_'.length) });
    const { body: read } = await test.get<{ status: string }>(`/v1/charges/${body.id}`);
    expect(read.status, 'the account’s own time decides').to.equal('pending');
  });
});
