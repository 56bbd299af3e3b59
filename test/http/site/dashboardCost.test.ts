// The cost of each dashboard page: at most 60 kB and 6 SQL statements, besides the three that find session, user and account on every
// request (issue 23).
import { expect } from 'chai';
import { ROUTES } from '../../../http/api/routes.ts';
import { isOfOperators } from '../../../http/kernel/callers.ts';
import { cookieOf } from '../../world/browser.ts';
import type { TestGateway } from '../../world/gateway.ts';
import { openReady } from '../../world/http.ts';
import { type CountedRequests, countRequests } from '../../world/statementsOf.ts';
import { exampleOf, type Made, makeKey, makeOnce, OWN_URL } from '../examples/routeExamples.ts';

const STATEMENTS_MAX = 6;
const WHO_ASKS_MAX = 3;
const WHO_ASKS = /operations\.sessions|event_store\.of_stream/;
const BYTES_MAX = 60_000;
const PAGES = ROUTES.filter(
  ({ method, path, principal, responses }) =>
    method === 'GET' &&
    path.startsWith('/dashboard') &&
    (principal === 'member' || principal === 'platformMember') &&
    responses[200]?.kind === 'page',
);

describe('a page of the dashboard', () => {
  let gateway: TestGateway;
  let counted: CountedRequests;
  let owned: Made & { chargeId: string; endpointId: string; keyId: string };
  let cookie: { readonly cookie: string };
  let operator: typeof cookie;
  before(async () => {
    counted = countRequests();
    gateway = await openReady();
    const made = await makeOnce(gateway);
    const chargeId = (await gateway.charge<{ id: string }>()).body.id;
    const endpoint = { url: OWN_URL, events: ['charge.failed'] };
    const endpointId = (await gateway.post<{ id: string }>('/v1/webhooks/endpoints', endpoint)).body.id;
    owned = { ...made, chargeId, endpointId, keyId: await makeKey(gateway) };
    cookie = cookieOf(await gateway.logIn('OWNER', made.user));
    operator = cookieOf(await gateway.logIn('OPERATOR'));
    // Without a stored report, the system page would start the checks, whose statements are not its own.
    await gateway.gateway.services.renewSystemReport();
  });
  after(async () => {
    counted.stop();
    await gateway.close();
  });

  for (const route of PAGES) {
    it(`${route.path} needs at most ${STATEMENTS_MAX} statements and ${BYTES_MAX} bytes`, async () => {
      const path = exampleOf(route).path?.(owned) ?? route.path;
      const reply = await gateway.call<unknown>('GET', path, {
        key: null,
        headers: {
          accept: 'text/html',
          ...(isOfOperators(route.principal) ? operator : cookie),
          ...counted.headers(route.operationId),
        },
      });
      expect(reply.status, reply.text).to.equal(200);
      const statements = counted
        .statements(route.operationId)
        .map(({ text }) => text)
        .filter((text, n) => n >= WHO_ASKS_MAX || !WHO_ASKS.test(text));
      expect(
        statements.length,
        `\n${statements.map((text) => text.replaceAll(/\s+/g, ' ').slice(0, 150)).join('\n')}\n`,
      ).to.be.within(0, STATEMENTS_MAX);
      expect(Buffer.byteLength(reply.text)).to.be.below(BYTES_MAX);
    });
  }
});
