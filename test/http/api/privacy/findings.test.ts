// An erasure blanks the reasons with which operators resolved findings of reconciliation about the payment or payout (rules L1, L2).
import { expect } from 'chai';
import { newKey, type TestGateway } from '../../../world/gateway.ts';
import { openReady, rawIdOf } from '../../../world/http.ts';
import type { Body } from '../../../world/merchant.ts';
import { storeFinding } from '../../../world/operatorsScene.ts';
import { PERSON, PersonDesk } from '../../../world/personDesk.ts';
import { makeConnection } from '../../examples/connectionExamples.ts';

const ORDER = { reason: 'request 17', despiteRetention: true };
const REASON = `${PERSON.name} (${PERSON.document}) paid twice`;
const OTHER = 'the bank corrected its list';

describe('an operator’s reason for resolving a finding', () => {
  let gateway: TestGateway;
  let desk: PersonDesk;
  let operator: { key: null; headers: Record<string, string> };
  before(async () => {
    gateway = await openReady();
    desk = await PersonDesk.open(gateway);
    operator = { key: null, headers: await gateway.logIn('OPERATOR', await gateway.addUser('OPERATOR')) };
  });
  after(async () => {
    await desk.close();
    await gateway.close();
  });

  const resolve = async (finding: string, reason: string): Promise<void> => {
    const path = `/ops/v1/reconciliation/findings/${finding}/resolve`;
    const { status, text } = await gateway.call('POST', path, { ...operator, body: { reason } });
    expect(status, text).to.equal(200);
  };
  const erase = async (owner: { payment: string } | { payout: string }): Promise<void> => {
    const { body, text } = await desk.operate<{ data: readonly Body[] }>('erase', { ...owner, ...ORDER });
    expect(body.data?.[0]?.['outcome'], text).to.equal('erased');
    await desk.untilErased([rawIdOf('payment' in owner ? owner.payment : owner.payout)]);
  };
  const get = async <T>(path: string): Promise<T> => (await gateway.call<T>('GET', path, operator)).body;

  it('is erased with the payment, with its refund, and with the payout', async () => {
    const { id } = (await desk.charge()).body as Body & { id: string };
    await desk.post(`/v1/sandbox/charges/${id}/pay`, { payer: { name: PERSON.name, document: PERSON.document } });
    const asked = { amount: 1_000, idempotencyKey: newKey(), destinationKey: PERSON.email };
    const refund = await desk.post<{ id: string }>(`/v1/payments/${rawIdOf(id)}/refund`, asked, 201);
    await desk.payOut();
    await desk.merchant.flushed();
    const { providerId } = await makeConnection(gateway);
    const about = [
      { moved: 'received', reference: 'E1', paymentId: rawIdOf(id) },
      { moved: 'paid_out', reference: rawIdOf(refund.id), paymentId: null },
      { moved: 'paid_out', reference: rawIdOf(desk.payoutId), paymentId: null },
      { moved: 'paid_out', reference: 'another', paymentId: null },
    ] as const;
    for (const [n, one] of about.entries())
      await resolve(await storeFinding(gateway, providerId, n, one), n === 3 ? OTHER : REASON);

    await erase({ payment: id });
    await erase({ payout: desk.payoutId });

    const { data } = await get<{ data: readonly { reference: string; resolved: { reason: string } }[] }>(
      `/ops/v1/reconciliation/findings?all=true&connection=${providerId}`,
    );
    const reasons = new Map(data.map(({ reference, resolved }) => [reference, resolved.reason]));
    expect(about.map(({ reference }) => reasons.get(reference))).to.deep.equal(['erased', 'erased', 'erased', OTHER]);
    const { findings } = await get<{ findings: readonly { resolved: { reason: string } }[] }>(
      `/ops/v1/reconciliation/report?connection=${providerId}&day=2026-11-21`,
    );
    expect(findings.map(({ resolved }) => resolved.reason)).to.have.members(['erased', 'erased', 'erased', OTHER]);
    await gateway.untilProjected();
    expect(await desk.tracesInDatabase()).to.deep.equal([]);
  });
});
