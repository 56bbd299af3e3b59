// Makes data for every operator page: held money, waiting cases, payouts to approve, a connection with callbacks and findings, users and
// keys of an account, and invited users. Names are long.
import { PROVIDER_CONNECTION } from '../../domain/providerConnection/aggregate.ts';
import { makeCallbacks } from '../http/examples/callbackExamples.ts';
import { contradictedCase, mismatchedCase, openedCase, reviewedCase } from '../http/examples/caseExamples.ts';
import { makeConnection } from '../http/examples/connectionExamples.ts';
import { waitingPayout } from '../http/examples/payoutExamples.ts';
import { makeKey } from '../http/examples/routeExamples.ts';
import type { TestGateway } from './gateway.ts';
import { rawIdOf } from './http.ts';
import { refusedReturn } from './refusedReturn.ts';

interface FindingAbout {
  readonly moved: 'received' | 'paid_out';
  readonly reference: string;
  readonly paymentId: string | null;
}

/** Stores a reconciliation finding for a connection that is never compared. */
export const storeFinding = async (
  { storage }: TestGateway,
  connection: string,
  number = 1,
  about?: FindingAbout,
): Promise<string> => {
  const id = `rf_${String(number).padStart(24, '0')}`;
  await storage.operations.query(
    `INSERT INTO operations.reconciliation_findings
       (connection_id, id, kind, moved, reference, day, at, end_to_end_id, txid, payment_id, expected, found)
     VALUES ($1, $2, 'missing_here', $3, $4, '2026-11-21', now(), $4, null, $5, null, 1234)`,
    [
      connection.slice(PROVIDER_CONNECTION.idPrefix.length),
      id,
      about?.moved ?? 'received',
      about?.reference ?? `E18236120202611241200s${String(number).padStart(10, '0')}`,
      about?.paymentId ?? null,
    ],
  );
  return id;
};

/** Returns the paths of the pages, relative to the operators’ area. */
export const operatorsScene = async (gateway: TestGateway, longName: string): Promise<readonly string[]> => {
  const lock = { expected_payer_tax_id: '12345678909', customer: { name: longName } };
  const { id: heldId } = (await gateway.charge<{ id: string }>(lock)).body;
  await gateway.post(`/v1/sandbox/charges/${heldId}/pay`, { payer: { name: longName, document: null } });
  const refused = await refusedReturn(gateway);
  const cases = [await reviewedCase(gateway), await mismatchedCase(gateway), await contradictedCase(gateway)];
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  const near = await openedCase(gateway, { reason: longName, response_deadline: soon });
  const { waitingPayoutId } = await waitingPayout(gateway);
  const { providerId } = await makeConnection(gateway);
  const { callbackConnectionId } = await makeCallbacks(gateway);
  await storeFinding(gateway, callbackConnectionId);
  const user = await gateway.addUser('MEMBER');
  for (const role of ['VIEWER', 'OPERATOR'] as const) await gateway.addUser(role, { password: null });
  await makeKey(gateway, longName.slice(0, 60));
  await gateway.untilProjected();
  await gateway.writeRequests();
  return [
    ...['', '/held', `/held/${rawIdOf(heldId)}`, `/held/${rawIdOf(refused.id)}`],
    ...['/disputes', ...[...cases, near].map(({ caseId }) => `/disputes/${caseId}`)],
    ...['/payouts', `/payouts/${waitingPayoutId}`, '/payouts?q=none'],
    ...['/connections', '/connections/new', `/connections/${providerId}`, `/connections/${callbackConnectionId}`],
    ...[`/connections/${providerId}/report?day=2026-11-21`, '/connections/findings?all=1'],
    ...['/accounts', '/accounts/new', '/accounts?q=none', `/accounts/acct_${gateway.tenant.accountId}`],
    ...[`/users/usr_${user.userId}`, '/operators', '/security', '/settings'],
  ];
};
