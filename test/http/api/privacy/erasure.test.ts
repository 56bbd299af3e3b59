// A payer’s data is found, reported and erased everywhere; everything else keeps working (rules L1–L3).
import { expect } from 'chai';
import { completeErasureOf } from '../../../../application/privacy/erasureWork.ts';
import { ROUTES } from '../../../../http/api/routes.ts';
import type { Principal } from '../../../../http/kernel/callers.ts';
import type { Route } from '../../../../http/kernel/route.ts';
import { openLog } from '../../../../infrastructure/log/log.ts';
import { verify } from '../../../../projections/engine/verify.ts';
import { PROJECTIONS } from '../../../../projections/registry.ts';
import { pdfLines } from '../../../support/pdfText.ts';
import { cookieOf } from '../../../world/browser.ts';
import { EvidenceDesk } from '../../../world/evidenceDesk.ts';
import { type CallOptions, newKey, type TestGateway } from '../../../world/gateway.ts';
import { openReady, rawIdOf } from '../../../world/http.ts';
import type { Body } from '../../../world/merchant.ts';
import { PERSON, PersonDesk, TRACES } from '../../../world/personDesk.ts';
import { pollUntil } from '../../../world/pollUntil.ts';
import type { Owned } from '../../examples/exampleParts.ts';
import { exampleOf } from '../../examples/routeExamples.ts';

const KEPT = 'The data must be kept until';
const ORDER = { reason: 'request 17 of the data protection officer' };

describe('erasure of personal data (L1–L3)', () => {
  let gateway: TestGateway;
  let desk: PersonDesk;
  let owners: readonly string[];
  let payouts: readonly string[];
  /** Lines of the log. */
  const lines: string[] = [];

  before(async function () {
    this.timeout(180_000);
    gateway = await openReady({ log: openLog('info', { write: (line) => void lines.push(line) }) });
    desk = await PersonDesk.open(gateway, 'charge.'); // each rejected message is sent 15 times
    await desk.payInFull();
    await desk.payOtherwise();
    await desk.payOut();
    await desk.failEverywhere();
    // By then, card payments have been released.
    await desk.merchant.advance(40 * 86_400);
    await desk.merchant.flushed();
    payouts = [desk.payoutId, desk.failedPayoutId];
    owners = [...desk.payments, ...payouts.map(rawIdOf)];
  });
  after(async () => {
    await desk.close();
    await gateway.close();
  });

  const verified = async () => {
    const { storage } = gateway;
    return (await verify(PROJECTIONS, storage, storage.openSession)).differences;
  };

  /** Returns the reasons that analysts see of the failed refund, its Pix-out and the failed payout. */
  const failuresForAnalysts = async () => {
    const { rows } = await gateway.storage.operations.query<{ reason: string | null }>(
      `SELECT failure_reason AS reason FROM analytics.refunds WHERE status = 'failed'
       UNION ALL SELECT failure_reason FROM analytics.payouts WHERE status = 'failed'`,
    );
    return rows.map(({ reason }) => reason);
  };

  it('finds all payments and payouts of a person by document and by email address', async () => {
    const { status, body, text } = await desk.operate<{ data: readonly { id: string }[] }>('find', {
      document: '390.533.447-05',
    });
    expect(status, text).to.equal(200);
    expect(body.data.map(({ id }) => rawIdOf(id))).to.have.members(owners);
    const byEmail = await desk.operate<{ data: readonly { id: string }[] }>('find', {
      email: PERSON.email.toUpperCase(),
    });
    expect(byEmail.body.data.map(({ id }) => rawIdOf(id))).to.have.members(desk.payments);
    const other = await desk.operate<{ data: readonly unknown[] }>('find', { document: '12345678909' });
    expect(other.body.data).to.deep.equal([]);
  });

  it('reports the stored data as JSON and as a PDF', async () => {
    const { body } = await desk.operate<Body & { data: readonly Body[]; pdf: { base64: string } }>('report', {
      payment: desk.chargeId,
    });
    const [held] = body.data;
    expect(held?.['data']).to.have.nested.property('charge.terms.customer.name', PERSON.name);
    expect(held?.['data']).to.have.nested.property('transaction.settlement.incoming.payer.document', PERSON.document);
    expect(held?.['disputes']).to.have.nested.property('[0].data.appeal.reason', PERSON.appeal);
    const shown = textOfPdf(body.pdf.base64);
    for (const text of [PERSON.name, PERSON.document, PERSON.email, PERSON.order]) expect(shown).to.include(text);
  });

  it('shows analysts nothing of the person, not even in a bank’s reason of a failure (N1)', async () => {
    const { operations } = gateway.storage;
    const { rows: views } = await operations.query<{ name: string }>(
      `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.views WHERE table_schema = 'analytics'`,
    );
    expect(views.length).to.be.greaterThan(0);
    for (const { name } of views) {
      const text = `SELECT t::text AS row FROM ${name} t WHERE t::text ILIKE ANY($1::text[])`;
      const { rows } = await operations.query(text, [TRACES.map((trace) => `%${trace}%`)]);
      expect(rows, name).to.deep.equal([]);
    }
    expect(await failuresForAnalysts()).to.deep.equal(['refused', 'refused', 'refused']);
  });

  it('refuses data that the law requires to keep, item by item', async () => {
    const { body } = await desk.operate<{ data: readonly { outcome: string; because: string }[] }>('erase', {
      document: PERSON.document,
      ...ORDER,
    });
    expect(body.data.map(({ outcome, because }) => [outcome, because.slice(0, KEPT.length)])).to.deep.equal(
      owners.map(() => ['refused', KEPT]),
    );
  });

  it('erases all items', async () => {
    const before = await gateway.get('/v1/wallets', desk.merchant);
    const { status, body, text } = await desk.operate<{ data: readonly { outcome: string }[] }>('erase', {
      document: PERSON.document,
      despiteRetention: true,
      ...ORDER,
    });
    expect(status, text).to.equal(200);
    expect(body.data.map(({ outcome }) => outcome)).to.deep.equal(owners.map(() => 'erased'));
    await desk.untilErased(owners);
    await gateway.untilProjected();
    const found = await desk.operate<{ data: readonly unknown[] }>('find', { document: PERSON.document });
    expect(found.body.data).to.deep.equal([]);
    expect((await gateway.get('/v1/wallets', desk.merchant)).body).to.deep.equal(before.body);
    expect(await failuresForAnalysts()).to.deep.equal([null, null, null]);
    expect(await verified()).to.deep.equal([]);
  });

  it('leaves the erased IDs in the security log, without a trace of the person', () => {
    const logged = lines.map((line) => JSON.parse(line) as { security?: string; id?: string });
    const ids = logged.filter(({ security }) => security === 'personal_data_erased').map(({ id = '' }) => id);
    expect(new Set(ids)).to.deep.equal(new Set([...desk.payments.map((id) => `tx_${id}`), ...payouts]));
    for (const trace of TRACES) expect(lines.filter((line) => line.includes(trace))).to.deep.equal([]);
  });

  it('leaves no trace of the person in any table', async () => {
    expect(await desk.tracesInDatabase()).to.deep.equal([]);
  });

  it('leaves every GET route working without a trace of the person (L4)', async () => {
    const owned = ownedBy(desk, (await desk.merchant.deliveries()).data[0]?.id as string);
    const [owner, operator] = await Promise.all([
      gateway.logIn('OWNER', await gateway.addUser('OWNER', { tenant: desk.merchant.tenant })),
      gateway.logIn('OPERATOR'),
    ]);
    const credentials: { readonly [P in Principal]: CallOptions } = {
      apiKey: desk.merchant,
      testKey: desk.merchant,
      session: { key: null, headers: owner },
      anySession: { key: null, headers: owner },
      member: { key: null, headers: cookieOf(owner) },
      platformMember: { key: null, headers: cookieOf(operator) },
      anyMember: { key: null, headers: cookieOf(owner) },
      operator: { key: null, headers: operator },
      ...{ public: { key: null }, monitor: { key: null }, provider: { key: null }, auditor: { key: null } },
    };
    const [asked, failed]: [string[], string[]] = [[], []];
    for (const route of ROUTES.filter(({ method, responses }) => method === 'GET' && responses[204] === undefined)) {
      const path = pathOf(route, owned);
      if (path === null) continue;
      const reply = await gateway.call<{ base64?: string }>('GET', path, credentials[route.principal]);
      const { status } = reply;
      const { base64 } = reply.body;
      const text = base64 === undefined ? reply.text : textOfPdf(base64);
      asked.push(route.operationId);
      // Files and pages of ended payments may be gone, so only 5xx counts as a failure.
      if (status >= 500) failed.push(`${path}: ${status} ${text}`);
      for (const trace of TRACES)
        if (text.toLowerCase().includes(trace.toLowerCase())) failed.push(`${path}: ${trace}`);
    }
    expect(failed).to.deep.equal([]);
    expect(asked).to.include.members(NAMED);
    expect(gateway.faults).to.deep.equal([]);
  });

  it('shows erased fields as null or “erased”, with money and times unchanged', async () => {
    const { body: charge } = await desk.get(`/v1/charges/${desk.chargeId}`);
    expect(charge['customer']).to.deep.equal({ name: null, document: null, email: null, phone: null });
    expect([charge['amount'], charge['status'], charge['amount_refunded']]).to.deep.equal([10_000, 'paid', 1_000]);
    const { body: payout } = await desk.get(`/v1/payouts/${desk.payoutId}`);
    expect([payout['destination'], payout['description'], payout['amount']]).to.deep.equal(['erased', null, 500]);
    const { body: failed } = await desk.get(`/v1/payouts/${desk.failedPayoutId}`);
    expect([failed['status'], failed['failure_reason']]).to.deep.equal(['failed', 'erased']);
    const { body: refunds } = await desk.get<{ data: readonly Body[] }>(
      `/v1/payments/${rawIdOf(desk.chargeId)}/refunds`,
    );
    expect(refunds.data.map(({ status, failureReason }) => [status, failureReason])).to.have.deep.members([
      ['REFUNDED', null],
      ['FAILED', 'erased'],
    ]);
    const { body: refused } = await desk.get(`/v1/charges/ch_${desk.payments.at(-1)}`);
    expect(refused).to.have.nested.property('metadata.failure.reason', 'erased');
    const files = await desk.get<{ data: readonly { file_name: string }[] }>(`/v1/med/cases/${desk.caseId}/evidence`);
    expect(files.body.data.map(({ file_name }) => file_name)).to.deep.equal(['erased']);
    expect((await gateway.get(desk.evidenceLink, { key: null })).status).to.equal(404);
  });

  it('replays an idempotency key with 201 and rejects another body (K2, L4)', async () => {
    const again = await desk.charge();
    expect([again.status, again.headers.get('idempotent-replayed')]).to.deep.equal([201, 'true']);
    expect((again.body as Body)['customer']).to.deep.equal({ name: null, document: null, email: null, phone: null });
    const other = await desk.charge(10_001);
    expect([other.status, (other.body as { error: { code: string } }).error.code]).to.deep.equal([
      409,
      'idempotency_key_reused',
    ]);
  });

  it('resends and retries webhooks with the remaining data', async () => {
    const { data } = await desk.merchant.deliveries('?status=FAILED&limit=100');
    expect(data).to.not.be.empty;
    const id = data[0]?.id as string;
    expect((await gateway.post(`/v1/webhooks/deliveries/${id}/retry`, {}, desk.merchant)).status).to.equal(200);
    const before = desk.receiver.got.length;
    await desk.post(`/v1/payments/${rawIdOf(desk.chargeId)}/resend-webhook`, {});
    await desk.merchant.flushed();
    const sent = desk.receiver.got.slice(before);
    expect(sent.length).to.be.greaterThan(0);
    for (const { rawBody } of sent)
      for (const trace of TRACES) expect(rawBody.toLowerCase()).to.not.include(trace.toLowerCase());
    expect(await desk.tracesInDatabase()).to.deep.equal([]);
  });

  it('rejects refunds, and reports a repeat as erased_before', async () => {
    const refund = { amount: 1, idempotencyKey: newKey() };
    const reply = await gateway.post(`/v1/payments/${rawIdOf(desk.chargeId)}/refund`, refund, desk.merchant);
    expect([reply.status, (reply.body as { error: { code: string } }).error.code]).to.deep.equal([
      409,
      'payment_erased',
    ]);
    const again = await desk.operate<{ data: readonly { outcome: string }[] }>('erase', {
      payment: desk.chargeId,
      ...ORDER,
    });
    expect(again.body.data).to.deep.equal([
      { id: `tx_${rawIdOf(desk.chargeId)}`, outcome: 'erased_before', because: null },
    ]);
  });

  it('accepts a later dispute of the bank without storing the payer’s data', async () => {
    const id = desk.idsByMethod.get('CREDIT_CARD') as string;
    const payer = { name: PERSON.name, document: PERSON.document };
    await desk.post(`/v1/sandbox/payments/${id}/chargeback`, { payer, reason: PERSON.complaint });
    await desk.merchant.flushed();
    await gateway.untilProjected();
    expect((await desk.paymentOf(id))['status']).to.equal('CHARGEBACK');
    expect(await verified()).to.deep.equal([]);
    expect(await desk.tracesInDatabase()).to.deep.equal([]);
  });

  it('leaves read models equal to their rebuild', async () => {
    const { platform } = gateway.gateway.services;
    const before = await desk.get(`/v1/charges/${desk.chargeId}`);
    await platform.rebuild('all', new AbortController().signal, () => undefined);
    expect(await verified()).to.deep.equal([]);
    expect((await desk.get(`/v1/charges/${desk.chargeId}`)).body).to.deep.equal(before.body);
  });
});

describe('data that arrives after an erasure (L2)', () => {
  let gateway: TestGateway;
  let desk: PersonDesk;
  const payer = { name: PERSON.name, document: PERSON.document };
  before(async () => {
    gateway = await openReady();
    desk = await PersonDesk.open(gateway);
  });
  after(async () => {
    await desk.close();
    await gateway.close();
  });

  /** Erases the charge’s payment. Returns the outcome, or the error’s code. */
  const erase = async (charge: string, despiteRetention = true): Promise<unknown> => {
    const order = { payment: charge, despiteRetention, ...ORDER };
    const { body } = await desk.operate<{ data?: readonly { outcome: string }[]; error?: { code: string } }>(
      'erase',
      order,
    );
    return body.data?.[0]?.outcome ?? body.error?.code;
  };
  const hasNoTraces = async () => ((await desk.tracesInDatabase()).length === 0 ? true : null);
  /** Waits until no table mentions the person. */
  const expectNoTraces = async () => {
    await pollUntil(gateway.gateway.projected, 20_000, hasNoTraces);
    expect(await desk.tracesInDatabase()).to.deep.equal([]);
  };
  const erasedCharge = async (): Promise<string> => {
    const { id } = (await gateway.charge<{ id: string }>(desk.chargeBody(), { ...desk.merchant })).body;
    await desk.post(`/v1/sandbox/charges/${id}/pay`, { payer });
    await desk.merchant.flushed();
    await gateway.untilProjected();
    expect(await erase(id)).to.equal('erased');
    await expectNoTraces();
    expect(await erase(id)).to.equal('erased_before');
    return id;
  };

  /** Opens a dispute with a file. `file`: asks for the file and returns the status. */
  const lateDispute = async (id: string) => {
    const dispute = { reason: PERSON.complaint, payer, method: 'scam' };
    const { id: caseId } = await desk.post<{ id: string }>(`/v1/sandbox/charges/${id}/med`, dispute, 201);
    const evidence = EvidenceDesk.ofCase(gateway, desk.merchant, caseId);
    const { pathname, search } = new URL((await evidence.add({ file_name: PERSON.file })).view_url);
    const file = async () => (await gateway.get(pathname + search, { key: null })).status;
    return { caseId, file };
  };

  it('is erased with the files of a late dispute by a second erasure, once the dispute has ended', async () => {
    const id = await erasedCharge();
    const { caseId, file } = await lateDispute(id);
    await desk.post(`/v1/med/cases/${caseId}/appeal`, { reason: PERSON.appeal });
    expect([await erase(id), await file()]).to.deep.equal(['payment_not_final', 200]);
    await desk.post(`/v1/sandbox/med/cases/${caseId}/decide`, { result: 'disagreed', returned: true });
    await desk.merchant.flushed();
    expect([await erase(id, false), await file()]).to.deep.equal(['retention_not_passed', 200]);
    expect(await erase(id)).to.equal('erased');
    await expectNoTraces();
    expect([await erase(id), await file()]).to.deep.equal(['erased_before', 404]);
  });

  it('keeps the files of a late dispute if the job of the first erasure runs again', async () => {
    const id = await erasedCharge();
    const { caseId, file } = await lateDispute(id);
    const retry = () => completeErasureOf(gateway.gateway.needs)({ kind: 'payment', owner: rawIdOf(id) });
    await retry();
    expect(await file()).to.equal(200);
    await desk.post(`/v1/sandbox/med/cases/${caseId}/decide`, { result: 'disagreed', returned: true });
    await desk.merchant.flushed();
    await retry();
    expect([await erase(id, false), await file()]).to.deep.equal(['retention_not_passed', 200]);
    expect(await erase(id)).to.equal('erased');
    await expectNoTraces();
    expect([await erase(id), await file()]).to.deep.equal(['erased_before', 404]);
  });

  it('is never stored: the bank’s books have no payer of a later Pix, and of late disputes neither payer nor reason', async () => {
    const id = await erasedCharge();
    const other = { name: 'Ruperto Quintanilha', document: '153.509.460–56' };
    await desk.post(`/v1/sandbox/charges/${id}/pay`, { payer: other });
    await desk.post(`/v1/sandbox/charges/${id}/pay`, {});
    const dispute = { reason: 'Ruperto reclamou', payer: other, method: 'scam' };
    await desk.post(`/v1/sandbox/charges/${id}/med`, dispute, 201);
    await desk.post(`/v1/sandbox/charges/${id}/med`, { ...dispute, owed: true }, 202);
    await desk.merchant.flushed();
    await gateway.untilProjected();
    const { operations } = gateway.storage;
    const payments = await operations.query(
      `SELECT payer_name AS name, payer_document AS document FROM sandbox_bank.payments
       WHERE txid = (SELECT max(txid) FROM sandbox_bank.cases WHERE payment_id = $1)`,
      [rawIdOf(id)],
    );
    const nobody = { name: null, document: null };
    expect(payments.rows).to.deep.equal([nobody, nobody, nobody]);
    const cases = await operations.query(
      'SELECT payer_name AS name, payer_document AS document, reason FROM sandbox_bank.cases WHERE payment_id = $1',
      [rawIdOf(id)],
    );
    expect(cases.rows).to.deep.equal([
      { ...nobody, reason: null },
      { ...nobody, reason: null },
    ]);
    expect(await desk.tracesInDatabase(['Ruperto', '15350946056', other.document])).to.deep.equal([]);
    const { body: charge } = await desk.get<{ metadata: unknown; status: string }>(`/v1/charges/${id}`);
    expect(charge.status).to.equal('disputed');
    for (const document of ['15350946056', other.document]) {
      const found = await desk.operate<{ data: readonly unknown[] }>('find', { document });
      expect(found.body.data).to.deep.equal([]);
    }
  });

  it('is erased with the bank’s books of a later Pix by a second erasure', async () => {
    const id = await erasedCharge();
    await desk.post(`/v1/sandbox/charges/${id}/pay`, { payer });
    await desk.merchant.flushed();
    expect(await erase(id)).to.equal('erased');
    await expectNoTraces();
    expect(await erase(id)).to.equal('erased_before');
  });
});

const textOfPdf = (base64: string): string =>
  pdfLines(Buffer.from(base64, 'base64'))
    .map(({ text }) => text)
    .join('\n');

/** Routes about a single payment, payout, case or delivery. */
const NAMED = [
  ...['getCharge', 'getPayment', 'listRefunds', 'getReceipt', 'getProviderStatus', 'getMedCase', 'getInfraction'],
  ...['getPayout', 'getPayoutReceipt', 'getWebhookDelivery', 'listWebhookDeliveries', 'listRequestLogs', 'listCharges'],
  ...['showCheckout', 'getCheckoutReceipt', 'getCheckoutBoleto', 'getPublicBoleto', 'showCardPage', 'getCheckoutQr'],
  ...['getCheckoutCryptoQr', 'showPayout', 'showStream', 'showLedger', 'showPayoutLedger', 'showEvidence'],
];

/** Returns the person’s payments under the names used in route examples. Throws NotOwned for other names. */
const ownedBy = (desk: PersonDesk, deliveryId: string): Owned => {
  const of = (method: string): string => desk.idsByMethod.get(method) as string;
  const known: { readonly [name: string]: unknown } = {
    ...{ chargeId: desk.chargeId, paidId: desk.chargeId, caseId: desk.caseId, evidenceCaseId: desk.caseId },
    ...{ evidenceId: desk.evidenceId, evidenceLink: desk.evidenceLink, payoutId: desk.payoutId },
    ...{ waitingPayoutId: desk.payoutId, boletoId: of('BOLETO'), boletoPath: desk.boletoPath, cryptoId: of('CRYPTO') },
    ...{ cardIds: { authorize: of('CREDIT_CARD') }, deliveryId },
  };
  return new Proxy({} as Owned, {
    get: (_, name) => {
      if (!(String(name) in known)) throw new NotOwned(String(name));
      return known[String(name)];
    },
  });
};
class NotOwned extends Error {}

/** Returns the path of the route’s example, or null if it concerns other data than the person’s payments. */
const pathOf = (route: Route, owned: Owned): string | null => {
  try {
    return exampleOf(route).path?.(owned) ?? route.path;
  } catch (error) {
    if (error instanceof NotOwned) return null;
    throw error;
  }
};
