// The runbook's query names returns outside Quita that an earlier build took from the merchant after a lost dispute (rule V10).
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import pg from 'pg';
import { metadataForProcess } from '../../../application/core/eventMetadata.ts';
import { takeReturns } from '../../../application/disputes/takeReturns.ts';
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { assertExists, type PaymentEvent } from '../../../domain/payment/payment.ts';
import { CaseDesk } from '../../world/caseDesk.ts';
import { startedDatabase, TestGateway } from '../../world/gateway.ts';
import { rawIdOf } from '../../world/http.ts';
import type { TestDatabase } from '../../world/postgres.ts';

const RUNBOOK = readFileSync(new URL('../../../docs/runbook.md', import.meta.url), 'utf8');
const QUERY = /## A merchant paid a lost dispute twice\n[\s\S]*?```sql\n([\s\S]*?)```/.exec(RUNBOOK)?.[1] ?? '';

describe('a lost dispute that the merchant paid twice', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  let db: pg.Client;
  before(async () => {
    database = await startedDatabase();
    gateway = await TestGateway.open({ database });
    db = new pg.Client({ connectionString: database.connectionString });
    await db.connect();
  });
  after(async () => {
    await db.end();
    await gateway.close();
    await database.drop();
  });

  it('is named by the query of the runbook, and no return that was counted, or came without a lost dispute', async () => {
    const desk = await CaseDesk.open(gateway);
    const { commands, accounts } = gateway.gateway.needs;
    const alerts = { disputeReport: () => undefined, returnedOutside: () => undefined };
    const made = async (isLost: boolean, isOld: boolean): Promise<PaymentId> => {
      const chargeId = await desk.paid();
      if (isLost) await desk.accept((await desk.dispute(chargeId)).id);
      const paymentId = rawIdOf(chargeId) as PaymentId;
      const stream = PAYMENT.stream(paymentId);
      const { charge, transaction } = assertExists((await commands.load(PAYMENT, stream)).state);
      const { providerPaymentId } = transaction.incomingPayments[0] ?? { providerPaymentId: '' };
      const [at, amount] = [await accounts.now(charge.terms.accountId, 'test'), toMinor(400)];
      const about = { id: 'app', returnId: null, nature: 'ordinary', amount } as const;
      const done = { requestedAt: at, settledAt: at, reason: null, status: 'done' } as const;
      if (!isOld) {
        const incoming = { providerPaymentId } as Parameters<ReturnType<typeof takeReturns>>[1]['incoming'];
        await takeReturns({ commands, accounts, alerts })(
          { paymentId },
          { incoming, returns: [{ ...about, ...done }] },
        );
        return paymentId;
      }
      const data = {
        ...about,
        providerPaymentId,
        owner: 'merchant',
        fromHold: toMinor(0),
        currency: 'BRL',
        at,
      } as const;
      const events: readonly PaymentEvent[] = [{ type: 'TransactionReturnedOutside', data }];
      const metadata = metadataForProcess('test', charge.terms, paymentId, 'test');
      await commands.record(PAYMENT, stream, () => ({ events, reply: null }), metadata);
      return paymentId;
    };
    const twice = await made(true, true);
    await made(true, false);
    await made(false, false);
    await desk.wallet(); // shows all of the above
    const { rows } = await db.query<{ payment_id: string; debited_minor: string }>(QUERY);
    expect(rows.map((row) => [row.payment_id, Number(row.debited_minor)])).to.deep.equal([[twice, 400]]);
  });
});
