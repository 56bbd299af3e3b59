// Quita gives up a sandbox dispute that no worker handles in time (rules Q10, X4). It never opens, and the charge can be disputed again.
import { expect } from 'chai';
import type { BookedDispute } from '../../../../application/sandbox/disputeInSandbox.ts';
import type { PaymentId } from '../../../../domain/kernel/ids.ts';
import { isRejection } from '../../../../domain/kernel/rejection.ts';
import type { MedCaseView } from '../../../../domain/presentation/medCase.ts';
import { CaseDesk } from '../../../world/caseDesk.ts';
import { startedDatabase, TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady, rawIdOf } from '../../../world/http.ts';
import { Merchant } from '../../../world/merchant.ts';
import type { TestDatabase } from '../../../world/postgres.ts';

describe('a sandbox dispute that no worker handles in time', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  before(async () => {
    database = await startedDatabase();
    gateway = await openReady({ database });
  });
  after(async () => {
    await gateway.close();
    await database.drop();
  });

  it('stays refused when repeated, and the charge’s next dispute opens', async () => {
    const desk = await CaseDesk.open(gateway);
    const tenant = { accountId: desk.merchant.tenant.accountId, mode: 'test' as const };
    const [unnamed, named] = [await desk.paid(), await desk.paid()];
    await gateway.close();
    gateway = await TestGateway.open({ database, roles: { serves: true, projects: true, works: false } });
    const { services } = gateway.gateway;
    const dispute = async (chargeId: string, providerCaseId: string | null): Promise<BookedDispute> => {
      const booked = await services.disputeInSandbox(tenant, rawIdOf(chargeId) as PaymentId, {
        ...{ amount: null, method: 'other', reason: null, responseDeadline: null, providerCaseId },
        payer: { name: null, document: null },
      });
      if (isRejection(booked)) throw new Error(booked.message);
      return booked;
    };
    const giveUp = (booked: BookedDispute) => services.disputeTaken(tenant, booked, true);
    const seen = new Set<string>();
    for (const n of [1, 2]) {
      const first = await dispute(unnamed, null);
      expect(first.isNew).to.equal(true);
      expect(await dispute(unnamed, null)).to.deep.equal({ ...first, isNew: false });
      seen.add(first.caseId);
      expect(seen).to.have.property('size', n);
      expect(await giveUp(first)).to.equal('refused');
      expect(await giveUp(first)).to.equal('refused');
    }
    const a = await dispute(named, 'a');
    expect([a.isNew, await giveUp(a)]).to.deep.equal([true, 'refused']);
    const repeated = await dispute(named, 'a');
    expect([repeated, await giveUp(repeated)]).to.deep.equal([{ ...a, isNew: false }, 'refused']);
    const b = await dispute(named, 'b');
    expect([b.isNew, await giveUp(b)]).to.deep.equal([true, 'refused']);

    await gateway.close();
    gateway = await openReady({ database });
    const merchant = new Merchant(gateway, desk.merchant.key);
    const med = (chargeId: string, body = {}) =>
      gateway.post<MedCaseView>(`/v1/sandbox/charges/${chargeId}/med`, body, merchant);
    for (const id of ['a', 'b']) expectError(await med(named, { provider_case_id: id }), 400, 'charge_not_disputable');
    for (const [chargeId, body] of [
      [unnamed, {}],
      [named, { provider_case_id: 'c' }],
    ] as const) {
      const opened = await med(chargeId, body);
      expect(opened.status, opened.text).to.equal(201);
      await merchant.flushed();
      const { data } = (await merchant.get<{ data: MedCaseView[] }>(`/v1/med/cases?charge_id=${chargeId}`)).body;
      expect(data.map(({ id }) => id)).to.deep.equal([opened.body.id]);
    }
    const repeat = await med(named, { provider_case_id: 'c' });
    expect(repeat.status, repeat.text).to.equal(201);
    expectError(await med(unnamed), 400, 'charge_not_disputable');
    expect(gateway.faults).to.deep.equal([]);
  });
});
