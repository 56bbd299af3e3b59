// An export reads page by page as its reader consumes it, stops with its reader, and is limited per account.
import { expect } from 'chai';
import { exportPayments, type PaymentExport } from '../../../application/payments/exportPayments.ts';
import {
  type Cursor,
  EVERY_PAYMENT,
  NEWEST_FIRST,
  type PaymentViews,
} from '../../../application/ports/readModels/payments.ts';
import type { PaymentId, Tenant } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { assertExists, type ExistingPayment } from '../../../domain/payment/payment.ts';
import { ACCOUNT_ID, created, paymentAfter } from '../../support/samples.ts';

const TENANT: Tenant = { accountId: ACCOUNT_ID, mode: 'test' };
const [ROWS, PAGE] = [2_500, 1_000];
const PAYMENT = assertExists(paymentAfter(created()));
const numbered = (n: number): ExistingPayment => ({
  ...PAYMENT,
  charge: { ...PAYMENT.charge, terms: { ...PAYMENT.charge.terms, paymentId: String(n) as PaymentId } },
});

/** A read model with ROWS payments that records the cursor of each read. */
const readModel = () => {
  const asked: (string | null)[] = [];
  const listAfter = async (_: Tenant, __: unknown, after: Cursor | null, limit: number) => {
    asked.push(after?.id ?? null);
    const from = after === null ? 0 : Number(after.id) + 1;
    return Array.from({ length: Math.min(limit, ROWS - from) }, (_row, n) => numbered(from + n));
  };
  const exporting = exportPayments({ views: { payments: { listAfter } as unknown as PaymentViews } });
  const open = (tenant = TENANT) => exporting(tenant, EVERY_PAYMENT, NEWEST_FIRST);
  return { asked, open };
};
const opened = (result: ReturnType<ReturnType<typeof readModel>['open']>): PaymentExport => {
  if (isRejection(result)) throw new Error(result.message);
  return result;
};

describe('a payment export', () => {
  it('returns each payment once, in order, in consecutive pages', async () => {
    const { asked, open } = readModel();
    const ids: string[] = [];
    for await (const page of opened(open()).pages) ids.push(...page.map(({ charge }) => charge.terms.paymentId));
    expect(ids).to.deep.equal(Array.from({ length: ROWS }, (_, n) => String(n)));
    expect(asked).to.deep.equal([null, '999', '1999']);
  });
  it('reads a page only on demand, and none after its reader has stopped', async () => {
    const { asked, open } = readModel();
    const pages = opened(open()).pages[Symbol.asyncIterator]();
    expect(asked).to.deep.equal([]);
    expect((await pages.next()).value).to.have.length(PAGE);
    expect(asked).to.deep.equal([null]);
    await pages.return?.();
    expect((await pages.next()).done).to.equal(true);
    expect(asked).to.deep.equal([null]);
  });
  it('is limited to two open exports per account', () => {
    const { open } = readModel();
    const first = opened(open());
    opened(open());
    expect(open()).to.include({ rejected: true, code: 'rate_limited' });
    opened(open({ ...TENANT, accountId: 'another' as never }));
    first.close();
    first.close();
    opened(open());
    expect(open()).to.include({ code: 'rate_limited' });
  });
});
