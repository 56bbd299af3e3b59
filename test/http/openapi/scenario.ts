// The examples of the OpenAPI document: one merchant’s story that uses every operation and sends every webhook. `npm run docs` stores the
// answers (http/openapi/examples.ts), and a test replays the story.

import { expect } from 'chai';
import type { OperationExamples } from '../../../http/openapi/examples.ts';
import { sealAllOf } from '../../infrastructure/audit/auditWorld.ts';
import { pngImage } from '../../support/images.ts';
import { codeOf } from '../../support/totp.ts';
import { TestGateway } from '../../world/gateway.ts';
import { paymentStream, poison } from '../../world/poison.ts';
import type { TestDatabase } from '../../world/postgres.ts';
import { type Hit, Receiver } from '../../world/receiver.ts';
import { refusedReturn } from '../../world/refusedReturn.ts';
import { untilContradicted } from '../examples/caseExamples.ts';
import { untilNoRun } from '../examples/opsExamples.ts';
import { StoryInstitution, tellLive } from './liveStory.ts';
import { steadied } from './steadied.ts';
import { Story } from './story.ts';

/** The story begins at noon of this day, and no time passes between steps. */
export const NOON = Date.UTC(2026, 10, 2, 12);
export const PUBLIC_URL = 'https://pay.quita.example';
const CUSTOMER = { name: 'Ana Souza', document: '12345678909', email: 'ana@example.com', phone: '+5511987654321' };

export interface Recorded {
  readonly operations: { readonly [operationId: string]: OperationExamples };
  readonly webhooks: { readonly [event: string]: unknown };
}

/** Charges: created, read, paid and expired. */
const tellCharges = async (story: Story): Promise<string> => {
  const { id } = await story.ask('createCharge', {
    body: {
      amount: 12345,
      payment_method: 'pix',
      description: 'Order 1001',
      customer: CUSTOMER,
      metadata: { order: '1001' },
    },
  });
  await story.ask('createPixCharge', { body: { amount: 4990, description: 'Order 1002', expires_in: 600 } });
  await story.ask('sandboxPay', { id, body: { payer: { name: 'Ana Souza', document: '12345678909' } } });
  await story.ask('getCharge', { id });
  await story.ask('listCharges', { query: '?limit=1&status=paid' });
  await story.ask('getPayment', { id });
  await story.ask('getProviderStatus', { id });
  await story.ask('getReceipt', { id });
  // Flush before other events of this charge are sent.
  await story.ask('flushSandboxDeliveries', { body: {} });
  const query = '?limit=1&eventType=charge.paid';
  const { data } = await story.ask<{ data: readonly { id: string }[] }>('listWebhookDeliveries', { query });
  await story.ask('getWebhookDelivery', { id: data[0]?.id ?? '' });
  await story.ask('getWebhookStats');
  await story.ask('retryWebhookDelivery', { id: data[0]?.id ?? '' });
  await story.ask('redriveWebhookDeliveries', { body: { status: 'FAILED', createdAfter: '2026-11-01', dryRun: true } });
  await story.ask('resendWebhook', { id });
  return id;
};

/** Refunds of a paid charge: one is paid, one fails. */
const tellRefunds = async (story: Story, paidId: string): Promise<void> => {
  await story.ask('changeSandboxSettings', { body: { auto_confirm_refunds: false } });
  const refund = (idempotencyKey: string, amount: number) =>
    story.ask('refundPayment', { id: paidId, body: { idempotencyKey, amount, reason: 'One item was out of stock' } });
  await story.ask('sandboxConfirmRefund', { id: (await refund('refund-1001-a', 3000)).id, body: {} });
  const failing = await refund('refund-1001-b', 1000);
  await story.ask('sandboxFailRefund', { id: failing.id, body: { reason: 'The account was closed.' } });
  await story.ask('listRefunds', { id: paidId });
};

/** Payouts: one paid, one failed, one canceled, two reviewed by a manager and two by an operator. */
const tellPayouts = async (story: Story, gateway: TestGateway): Promise<void> => {
  await story.ask('changeSandboxSettings', { body: { auto_confirm_payouts: false } });
  const earned = { amount: 100_000, payment_method: 'pix' };
  const { id: charge } = await story.ask('createCharge', { key: 'order-1009', body: earned });
  await story.ask('sandboxPay', { id: charge, body: {} });
  const payout = (key: string, amount = 1000) =>
    story.ask('requestPayout', {
      key,
      body: { amount, destination: { pix_key: 'ana@example.com' }, description: 'October', metadata: { batch: '10' } },
    });
  const { id } = await payout('payout-1001');
  await story.ask('sandboxConfirmPayout', { id, body: {} });
  await story.ask('getPayout', { id });
  await story.ask('getPayoutReceipt', { id });
  const failing = await payout('payout-1002');
  await story.ask('sandboxFailPayout', { id: failing.id, body: { reason: 'The account was closed.' } });
  await story.ask('changeSandboxSettings', { body: { payout_approval_above: 0 } });
  await story.ask('cancelPayout', { id: (await payout('payout-1003')).id });
  const { authorization } = await gateway.logIn('ADMIN');
  const token = authorization.replace('Bearer ', '');
  await story.ask('approvePayout', { id: (await payout('payout-1004')).id, token });
  const body = { reason: 'Paid by hand.' };
  await story.ask('rejectPayout', { id: (await payout('payout-1005')).id, body, token });
  const [approved, rejected] = [(await payout('payout-1006')).id, (await payout('payout-1007')).id];
  const operator = (await gateway.logIn('OPERATOR')).authorization.replace('Bearer ', '');
  await story.ask('listPayoutReviews', { query: '?limit=1', token: operator });
  await story.ask('showPayout', { id: approved, token: operator });
  await story.ask('showPayoutLedger', { id: rejected, token: operator });
  await story.ask('approvePayoutReview', { id: approved, token: operator });
  await story.ask('rejectPayoutReview', { id: rejected, body: { reason: 'Unknown receiver.' }, token: operator });
  await story.ask('listPayouts', { query: '?limit=1&status=paid' });
  await story.ask('changeSandboxSettings', { body: { auto_confirm_payouts: true, payout_approval_above: null } });
};

/** Payments by other methods, with the actions of acquirers and payers. */
const tellPayments = async (story: Story): Promise<void> => {
  const create = (idempotencyKey: string, methods: readonly string[] = ['CREDIT_CARD']) =>
    story.ask('createPayment', {
      body: { idempotencyKey, amount: 25000, currency: 'BRL', paymentMethods: methods, customerName: 'Ana Souza' },
    });
  const [settled, disputed, refused, processing, cancelled] = await Promise.all(
    ['order-2001', 'order-2002', 'order-2003', 'order-2004', 'order-2005'].map((key) => create(key)),
  );
  for (const payment of [settled, disputed])
    await story.ask('sandboxAuthorize', { id: payment?.id ?? '', body: { method: 'CREDIT_CARD' } });
  await story.ask('sandboxChargeback', { id: settled?.id ?? '', body: {} });
  await story.ask('sandboxDispute', { id: disputed?.id ?? '', body: {} });
  await story.ask('sandboxRefuse', { id: refused?.id ?? '', body: { reason: 'Insufficient funds.' } });
  await story.ask('sandboxProcessing', { id: processing?.id ?? '', body: {} });
  await story.ask('cancelPayment', { id: cancelled?.id ?? '' });
  await story.ask('listPayments', { query: '?limit=1&status=CHARGEBACK' });
};

/** Evidence for a disputed charge, under each of the two paths. */
const tellEvidence = async (story: Story, gateway: TestGateway): Promise<void> => {
  const charge = await gateway.charge<{ id: string }>({ description: 'Order 1002' });
  await gateway.post(`/v1/sandbox/charges/${charge.body.id}/pay`, {});
  const { body: medCase } = await gateway.post<{ id: string }>(`/v1/sandbox/charges/${charge.body.id}/med`, {});
  const image = pngImage();
  for (const [route, of] of [
    ['MedCase', 'entrega.png'],
    ['Infraction', 'nota.png'],
  ]) {
    const body = { file_name: of, file_size: image.length, mime_type: 'image/png' };
    const upload = await story.ask<{ id: string; upload_url: string; upload_headers: Record<string, string> }>(
      `grant${route}Evidence`,
      { id: medCase.id, body },
    );
    const { pathname, search } = new URL(upload.upload_url);
    const headers = upload.upload_headers;
    const sent = await gateway.call('PUT', pathname + search, { raw: image, headers, key: null });
    expect(sent.status, sent.text).to.equal(200);
    await story.ask(`complete${route}Evidence`, { id: medCase.id, evidenceId: upload.id });
    await story.ask(`list${route}Evidence`, { id: medCase.id });
  }
};

/** The owner logs in, changes the checkout’s appearance, lists requests, manages keys and members, changes the password and logs out. */
const tellLogin = async (story: Story, gateway: TestGateway): Promise<void> => {
  const { email, password } = await gateway.addUser('OWNER', { email: 'ana@example.com', password: 'correct horse' });
  const { token } = await story.ask<{ token: string }>('logIn', { body: { email, password } });
  await story.ask('changeAccountSettings', { body: { color: '#1a7f5c', cashoutDestinations: [email] }, token });
  await story.ask('uploadLogo', { image: pngImage(), token });
  await story.ask('getAccount', { token });
  await story.ask('removeLogo', { token });
  await gateway.writeRequests();
  await story.ask('listRequestLogs', { query: '?limit=1&status=201', token });
  const key = await story.ask('issueApiKey', { body: { label: 'till', test: true }, token });
  const next = await story.ask('rotateApiKey', { id: key.id, body: { label: 'till 2' }, token });
  await story.ask('listApiKeys', { token });
  const eva = { email: 'eva@example.com', role: 'MEMBER', name: 'Eva' };
  const invited = await story.ask('inviteMember', { body: eva, token });
  await story.ask('listMembers', { query: '?limit=2', token });
  await story.ask('changeMemberRole', { id: invited.id, body: { role: 'ADMIN' }, token });
  await story.ask('disableMember', { id: invited.id, token });
  await story.ask('enableMember', { id: invited.id, token });
  await story.ask('revokeApiKey', { id: next.id, token });
  const changed = { current_password: password, new_password: 'battery staple' };
  await story.ask('changePassword', { body: changed, token });
  const { secret } = await story.ask<{ secret: string }>('enrolTotp', { body: {}, token });
  await story.ask('confirmTotp', { body: { code: codeOf(secret, 0, NOON) }, token });
  await story.ask('logOut', { token });
  await story.ask('requestPasswordReset', { body: { email } });
};

/** Dispute cases under both paths: one appealed and won after a review, two accepted, one withdrawn by the payer. */
const tellDisputes = async (story: Story): Promise<void> => {
  const open = async (order: string): Promise<string> => {
    const charge = { amount: 12345, payment_method: 'pix', description: `Order ${order}` };
    const { id } = await story.ask('createCharge', { body: charge, key: `dispute-of-${order}` });
    await story.ask('sandboxPay', { id, body: {} });
    const body = {
      method: 'scam',
      reason: 'The payer says that it was a scam.',
      response_deadline: '2026-11-12T12:00:00.000Z',
      provider_case_id: `bank-${order}`,
    };
    return (await story.ask('sandboxOpenMedCase', { id, body })).id;
  };
  const reason = { reason: 'The order was delivered; the receipt is signed.' };
  const won = await open('3001');
  await story.ask('getMedCase', { id: won });
  await story.ask('listMedCases', { query: '?limit=1&status=open' });
  await story.ask('sandboxRequestEvidence', { id: won, body: {} });
  await story.ask('appealMedCase', { id: won, body: reason });
  await story.ask('sandboxDecideMedCase', { id: won, body: { result: 'disagreed', review: true } });
  await story.ask('sandboxReviewMedCase', { id: won, body: { approve: true } });
  const lost = await open('3002');
  await story.ask('acceptMedCase', { id: lost });
  const withdrawn = await open('3003');
  await story.ask('getInfraction', { id: withdrawn });
  await story.ask('listInfractions', { query: '?limit=1' });
  await story.ask('appealInfraction', { id: withdrawn, body: reason });
  await story.ask('sandboxWithdrawMedCase', { id: withdrawn, body: {} });
  await story.ask('acceptInfraction', { id: await open('3004') });
};

/** An operator of the platform opens an account and manages its keys and users. */
const tellPlatform = async (story: Story, gateway: TestGateway): Promise<void> => {
  const olga = await gateway.addUser('OPERATOR', { email: 'olga@example.com', password: 'correct horse' });
  const token = (await gateway.logIn('OPERATOR', olga)).authorization.slice('Bearer '.length);
  const opening = { name: 'Livraria Exemplo', email: 'bia@example.com' };
  const { id, userId } = await story.ask<{ id: string; userId: string }>('createAccount', { body: opening, token });
  await story.ask('listAccounts', { query: '?limit=2', token });
  await story.ask('changeSettingsOfAccount', {
    id,
    body: {
      fees: { PIX: { platform: { percentBps: 80, fixed: 0 } } },
      taxId: '11.222.333/0001-81',
      rateLimitPerMinute: 1200,
    },
    token,
  });
  await story.ask('uploadLogoOfAccount', { id, image: pngImage(), token });
  await story.ask('removeLogoOfAccount', { id, token });
  await story.ask('suspendAccount', { id, token });
  await story.ask('reopenAccount', { id, token });
  await story.ask('showAccount', { id, token });
  const key = await story.ask('issueKeyOfAccount', { id, body: { label: 'till', test: true }, token });
  const next = await story.ask('rotateKeyOfAccount', { id, keyId: key.id, body: { label: 'till 2' }, token });
  await story.ask('listKeysOfAccount', { id, token });
  await story.ask('revokeKeyOfAccount', { id, keyId: next.id, token });
  const member = { accountId: id, email: 'caio@example.com', role: 'MEMBER', name: 'Caio' };
  const caio = await story.ask('addUser', { body: member, token });
  await story.ask('inviteUser', { body: { ...member, email: 'dora@example.com', name: 'Dora' }, token });
  await story.ask('listUsers', { query: `?accountId=${id}&limit=2`, token });
  await story.ask('showUser', { id: userId, token });
  await story.ask('changeUserRole', { id: caio.id, body: { role: 'ADMIN' }, token });
  await story.ask('disableUser', { id: caio.id, token });
  await story.ask('enableUser', { id: caio.id, token });
  await story.ask('resetSecondFactor', { id: caio.id, token });
  // Two Pix without a payer document, on charges that are locked to a payer.
  const held = async (reference: string): Promise<string> => {
    const locked = {
      amount: 4990,
      payment_method: 'pix',
      expected_payer_tax_id: CUSTOMER.document,
      customer: CUSTOMER,
    };
    const { body } = await gateway.call<{ id: string }>('POST', '/v1/charges', {
      body: locked,
      idempotencyKey: reference,
    });
    await gateway.post(`/v1/sandbox/charges/${body.id}/pay`, { payer: { document: null } });
    return body.id;
  };
  const [passed, returned] = [await held('order-3001'), await held('order-3002')];
  await story.ask('listHeld', { query: '?limit=1', token });
  await story.ask('releaseHeld', { id: passed, token });
  await story.ask('returnHeld', { id: returned, body: {}, token });
  const refusedPix = (await refusedReturn(gateway)).id;
  await story.ask('settleHeld', {
    id: refusedPix,
    body: { pixOut: 'maria@example.com', reason: 'Account closed.' },
    token,
  });
  const disputed = async (reference: string, report: object = {}): Promise<string> => {
    const { body } = await gateway.call<{ id: string }>('POST', '/v1/charges', {
      body: { amount: 12345, payment_method: 'pix' },
      idempotencyKey: reference,
    });
    await gateway.post(`/v1/sandbox/charges/${body.id}/pay`, {});
    const { body: medCase } = await gateway.post<{ id: string }>(`/v1/sandbox/charges/${body.id}/med`, {
      provider_case_id: `bank-${reference}`,
      ...report,
    });
    return medCase.id;
  };
  const ruled = async (reference: string): Promise<string> => {
    const id = await disputed(reference);
    await gateway.post(`/v1/sandbox/med/cases/${id}/decide`, { result: 'agreed', review: true });
    return id;
  };
  const [approved, refused] = [await ruled('order-3003'), await ruled('order-3004')];
  await story.ask('listCaseReviews', { query: '?limit=1', token });
  await story.ask('approveCaseReview', { id: approved, token });
  await story.ask('rejectCaseReview', { id: refused, token });
  const mismatched = await disputed('order-3005', { amount: 100 });
  await story.ask('settleCase', { id: mismatched, body: { nothing: true, reason: 'The bank corrected it.' }, token });
  await gateway.post(`/v1/sandbox/med/cases/${mismatched}/decide`, { result: 'agreed', owed: true });
  await untilContradicted(gateway, mismatched);
  await story.ask('dismissCaseReport', { id: mismatched, body: { reason: 'Seen.' }, token });
  await tellErasure(story, gateway, token);
  await story.ask('listDeadLetters', { token });
  await story.ask('redriveDeadLetters', { body: { eventType: 'charge.paid', dryRun: true }, token });
  await story.ask('listRedrives', { token });
  await story.ask('listFailedJobs', { token });
  await story.ask('listQueues', { token });
  await story.ask('redriveJobs', { body: { all: true }, token });
  await story.ask('listProjections', { token });
  await story.ask('verifyProjections', { token });
  await story.ask('rebuildProjection', { name: 'users', token });
  await story.ask('startProjectionRun', { body: { work: 'rebuild', readModel: 'users' }, token });
  await untilNoRun(gateway);
  await story.ask('listProjectionRuns', { token });
  await story.ask('checkSystem', { token });
  await story.ask('checkLedger', { token });
  await story.ask('showLedger', { id: returned, token });
  await tellAudit(story, gateway, token);
  await gateway.writeRequests();
  await story.ask('showRequest', { id: 'example-listHeld', token });
  await story.ask('readLog', { token });
  await story.ask('showStream', { stream: passed, query: '?limit=1', token });
};

const tellAudit = async (story: Story, gateway: TestGateway, token: string): Promise<void> => {
  await sealAllOf(gateway);
  await story.ask('getAuditStatus', { token });
  await story.ask('rotateAuditKey', { token });
  const { id } = await story.ask('issueAuditToken', { body: { name: 'The auditors' }, token });
  await story.ask('listAuditTokens', { token });
  await story.ask('revokeAuditToken', { id, token });
};

/** Finds, reports and erases a person’s data. */
const tellErasure = async (story: Story, gateway: TestGateway, token: string): Promise<void> => {
  const { id } = (await gateway.charge<{ id: string }>({ amount: 5000, customer: CUSTOMER })).body;
  await gateway.post(`/v1/sandbox/charges/${id}/pay`, { payer: { name: CUSTOMER.name, document: CUSTOMER.document } });
  await story.ask('findPersonalData', { body: { payment: id }, token });
  await story.ask('reportPersonalData', { body: { payment: id }, token });
  const body = { payment: id, reason: 'Request 17 of the data protection officer.', despiteRetention: true };
  await story.ask('erasePersonalData', { body, token });
};

/** An unreadable event. It comes last, because it also parks the merchant’s wallet. */
const tellParked = async (story: Story, gateway: TestGateway): Promise<void> => {
  const { body } = await gateway.call<{ id: string }>('POST', '/v1/charges', {
    body: { amount: 12345, payment_method: 'pix' },
    idempotencyKey: 'order-4001',
  });
  const stream = paymentStream(body.id);
  await poison(gateway, gateway.tenant, stream);
  for (const following of [gateway.gateway.projected, gateway.gateway.reacted])
    expect(await following.caughtUp(10_000)).to.equal(true);
  const token = (await gateway.logIn('OPERATOR')).authorization.slice('Bearer '.length);
  const consumer = 'process/webhookFanOut';
  await story.ask('listParked', { query: `?consumer=${consumer}`, token });
  await story.ask('showParked', { stream, query: `?consumer=${consumer}`, token });
  await story.ask('retryParked', { stream, body: { consumer }, token });
  await story.ask('skipParked', { stream, body: { reason: 'The merchant was called.', consumer }, token });
  await story.ask('retryAllParked', { body: { consumer: 'payments' }, token });
};

/** Returns one webhook per event type, preferably about the first charge, so that every recording contains the same ones. */
const sentOf = (hits: readonly Hit[], chargeId: string): Readonly<Record<string, unknown>> => {
  const paymentId = chargeId.slice(chargeId.indexOf('_') + 1);
  const rank = ({ rawBody }: Hit) => (rawBody.includes(paymentId) ? '0' : '1') + rawBody.replaceAll(/evt_\w+/g, '');
  const ordered = hits.toSorted((a, b) => (rank(a) < rank(b) ? 1 : -1));
  return Object.fromEntries(ordered.map((hit) => [String(hit.headers['x-acme-event-type']), hit.body]));
};

interface Telling {
  /** Default: a temporary database. */
  readonly database?: TestDatabase;
  /** Final steps of the story. */
  readonly ending?: (story: Story, gateway: TestGateway) => Promise<void>;
}

/** Plays the story on its own gateway; returns the recorded answers and webhooks. */
export const playStory = async ({ database, ending = tellParked }: Telling = {}): Promise<Recorded> => {
  const receiver = await Receiver.open();
  let institution: StoryInstitution | null = null;
  const gateway = await TestGateway.open({
    ...(database && { database }),
    clock: { now: () => NOON },
    publicUrl: PUBLIC_URL,
    tenantSeed: 'examples',
    openAdapter: (terms) => {
      institution ??= new StoryInstitution(terms);
      return institution;
    },
  });
  try {
    const story = new Story(gateway);
    await story.ask('registerWebhookEndpoint', { body: { url: receiver.url, events: ['*'] } });
    await story.ask('listWebhookEndpoints');
    await story.ask('rotateOverrideSecret');
    await story.ask('listEventCatalogue');
    const paidId = await tellCharges(story);
    await tellRefunds(story, paidId);
    await tellPayouts(story, gateway);
    await tellPayments(story);
    await tellDisputes(story);
    await tellLogin(story, gateway);
    await tellPlatform(story, gateway);
    await tellLive(story, gateway, () => institution as StoryInstitution, NOON);
    await story.ask('getBalance');
    await story.ask('listWallets');
    await story.ask('getStatement', { month: '2026-11', query: '?format=csv' });
    await story.ask('getPaymentStats');
    await story.ask('getPaymentMetrics');
    await story.ask('getSandboxClock');
    // The second charge expires.
    await story.ask('advanceSandboxClock', { body: { seconds: 660 } });
    await story.ask('flushSandboxDeliveries', { body: {} });
    await tellEvidence(story, gateway);
    const { body } = await gateway.post<{ id: string }>('/v1/webhooks/endpoints', {
      url: receiver.url,
      events: ['charge.paid'],
    });
    await story.ask('pingWebhookEndpoint', { id: body.id });
    await story.ask('changeWebhookEndpoint', { id: body.id, body: { events: ['charge.paid', 'charge.expired'] } });
    await story.ask('rotateWebhookSecret', { id: body.id, body: { id: body.id } });
    await story.ask('deleteWebhookEndpoint', { id: body.id });
    await ending(story, gateway);
    const recorded = { operations: story.operations, webhooks: sentOf(receiver.got, paidId) };
    return steadied(recorded, receiver.url);
  } finally {
    await gateway.close();
    await receiver.close();
  }
};
