// The error table, in both directions: every domain code has a status, and a request can provoke every code (contract.md Errors).
import { expect } from 'chai';
import { CommandContention, StreamUnreadable } from '../../../application/core/commandHandler.ts';
import { AppendOutcomeUnknown, EventStoreUnavailable } from '../../../application/ports/eventStore.ts';
import { EvidenceStorageUnavailable } from '../../../application/ports/evidenceStorage.ts';
import { PasswordHashingBusy } from '../../../application/ports/logins.ts';
import { ReadModelsBehind } from '../../../application/ports/readModels/progress.ts';
import { SenderFailed } from '../../../application/ports/webhookSender.ts';
import type { ErrorCode } from '../../../domain/kernel/rejection.ts';
import { ERRORS } from '../../../http/kernel/errors.ts';
import { EXAMPLES } from '../../../http/openapi/examples.ts';
import { watchBackends } from '../../infrastructure/postgres/backends.ts';
import { shapeOf } from '../../support/jsonShape.ts';
import { newKey, startedDatabase, type TestGateway } from '../../world/gateway.ts';
import { type ErrorReply, expectError, openReady, rawIdOf } from '../../world/http.ts';
import {
  charge,
  onRealServer,
  PROVOKED,
  type Provoke,
  twinThatWaitedTooLong,
  whileServiceThrows,
} from '../examples/provokedErrors.ts';

// Checked at compile time too: a code that is only in the domain or only in the table breaks the build.
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;
const sameCodes: Same<ErrorCode, keyof typeof ERRORS> = true;

describe('errors', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await openReady();
  });
  after(() => gateway.close());

  it('have the same codes in the domain and in the table', () => expect(sameCodes).to.equal(true));

  it('all have a request in PROVOKED', () =>
    expect(Object.keys(PROVOKED).sort()).to.deep.equal((Object.keys(ERRORS) as ErrorCode[]).sort()));

  for (const [code, [status, provoke, param]] of Object.entries(PROVOKED) as [
    ErrorCode,
    readonly [number, Provoke, string?],
  ][])
    it(`${status} ${code}`, async () => {
      gateway.faults.length = 0;
      const reply = await provoke(gateway);
      expectError(reply, status, code, param);
      expect(shapeOf(EXAMPLES.errors[code]), 'the example in the OpenAPI document: npm run docs').to.equal(
        shapeOf(reply.body),
      );
      expect(ERRORS[code].status).to.equal(status);
      expect(ERRORS[code].when).to.match(/^[A-Z`].*\.$/);
      expect(gateway.faults.length).to.equal(code === 'internal_error' ? 1 : 0);
    });

  it('send Retry-After with 429, with 503 and with 409 for a request in progress', async () => {
    expect(
      (await charge({ metadata: { sandbox_provider: 'unavailable' } })(gateway)).headers.get('retry-after'),
    ).to.equal('2');
    const { twin, replies, ask } = await twinThatWaitedTooLong(gateway);
    expect([twin.status, twin.headers.get('retry-after')]).to.deep.equal([409, '1']);
    // The request that kept running created the charge; the key now replays it.
    expect(replies.map(({ status }) => status).sort()).to.deep.equal([201, 409]);
    const again = await ask();
    expect([again.status, again.headers.get('idempotent-replayed')]).to.deep.equal([201, 'true']);
  });

  describe('an internal error', () => {
    it('returns no details of the cause, which is logged with the request id', async () => {
      gateway.faults.length = 0;
      const cause = new TypeError('password=hunter2 at /srv/app.ts');
      const reply = await whileServiceThrows(gateway, cause, () =>
        gateway.charge({}, { headers: { 'x-request-id': 'find-me' } }),
      );
      expectError(reply, 500, 'internal_error');
      expect(reply.text).to.not.match(/hunter2|TypeError|\.ts/);
      expect((reply.body as unknown as ErrorReply).request_id).to.equal('find-me');
      expect(gateway.faults).to.deep.equal([cause]);
    });
    it('returns 503 for every error that means the database is unavailable', async () => {
      const away = [
        { code: 'ECONNREFUSED' },
        { code: '57P01' },
        { code: '08006' },
        { code: '53100', message: 'could not extend file: No space left on device' },
        { code: '53200', message: 'out of memory' },
        { code: '53300', message: 'sorry, too many clients already' },
        { code: '55P03', message: 'canceling statement due to lock timeout' },
        { code: 'EPIPE' },
        { code: '42P01', message: 'relation "rm_payments.payments" does not exist' },
        { code: '3F000', message: 'schema "rm_payments" does not exist' },
        { message: 'Connection terminated unexpectedly' },
        { message: 'timeout exceeded when trying to connect' },
      ];
      for (const { message = 'away', ...more } of away as { message?: string; code?: string }[]) {
        const reply = await whileServiceThrows(gateway, Object.assign(new Error(message), more), () =>
          gateway.get('/v1/wallets'),
        );
        expectError(reply, 503, 'service_unavailable');
        expect(reply.headers.get('retry-after')).to.equal('2');
      }
    });
    it('returns 503 for errors that are safe to retry', async () => {
      for (const Kind of [
        EventStoreUnavailable,
        AppendOutcomeUnknown,
        CommandContention,
        ReadModelsBehind,
        StreamUnreadable,
        PasswordHashingBusy,
        EvidenceStorageUnavailable,
        SenderFailed,
      ]) {
        const reply = await whileServiceThrows(gateway, new Kind('who=ana'), () => gateway.get('/v1/wallets'));
        expectError(reply, 503, 'service_unavailable');
        expect([reply.headers.get('retry-after'), reply.text.includes('who=ana')]).to.deep.equal(['2', false]);
      }
    });
    it('returns 503 on every route when the database accepts no connections (53300), and 200 once it does again', async () => {
      const database = await startedDatabase();
      const crowded = await openReady({ database });
      const { body } = await crowded.charge<{ id: string }>();
      const paths = [
        ...['/v1/charges', `/v1/charges/${body.id}`, '/v1/payments', `/v1/payments/${rawIdOf(body.id)}`],
        ...[`/v1/payments/${rawIdOf(body.id)}/refunds`, '/v1/payments/stats', '/v1/wallets', '/v1/wallets/balance'],
        ...['/v1/webhooks/endpoints', '/v1/webhooks/deliveries', `/pay/${rawIdOf(body.id)}`],
      ];
      const ask = () => Promise.all(paths.map((path) => crowded.get(path)));
      const statuses = async () => (await ask()).map(({ status }, i) => `${paths[i]} ${status}`);
      const well = paths.map((path) => `${path} 200`);
      expect(await statuses()).to.deep.equal(well);
      const backends = await watchBackends(database.connectionString);
      const limit = async (most: number) => {
        const { rows } = await backends.sql.query<{ name: string }>('SELECT current_database() AS name');
        await backends.sql.query(`ALTER DATABASE ${rows[0]?.name} CONNECTION LIMIT ${most}`);
      };
      await limit(1);
      await backends.sql.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      );
      const [reads, write] = await Promise.all([ask(), crowded.charge()]);
      for (const reply of [...reads, write]) expectError(reply, 503, 'service_unavailable');
      await limit(-1);
      await backends.until(async () => (await statuses()).every((status, i) => status === well[i]), 15_000);
      expect((await crowded.charge()).status).to.equal(201);
      await backends.close();
      await crowded.close();
      await database.drop();
    });
    it('returns 201 or 503 when all connections are cut mid-request, and each key creates one charge', async () => {
      const cut = await openReady();
      const keys = Array.from({ length: 40 }, newKey);
      const ask = (idempotencyKey: string) => cut.charge({ amount: 4_321 }, { idempotencyKey });
      const first = Promise.all(keys.map(ask));
      await cut.storage.reads
        .query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
        )
        .catch(() => undefined);
      for (const reply of await first) if (reply.status !== 201) expectError(reply, 503, 'service_unavailable');
      const settled = new Map<string, string>();
      const until = Date.now() + 15_000;
      for (const key of keys)
        for (let reply = await ask(key); ; reply = await ask(key)) {
          if (reply.status === 201) {
            settled.set(key, rawIdOf((reply.body as { id: string }).id));
            break;
          }
          expectError(reply, 503, 'service_unavailable');
          expect(Date.now(), 'the database does not come back').to.be.below(until);
        }
      expect(new Set(settled.values()).size).to.equal(40);
      expect(cut.faults.filter((fault) => fault instanceof TypeError)).to.deep.equal([]);
      const { rows } = await cut.storage.reads.query<{ n: number }>(
        `SELECT count(*) AS n FROM event_store.events WHERE stream LIKE 'payment-%'`,
      );
      expect(rows).to.deep.equal([{ n: 80 }]);
      await cut.close();
    });
  });

  describe('a request that is not valid HTTP', () => {
    for (const [what, bytes] of [
      ['nonsense', 'hello\r\n\r\n'],
      ['a bad method', 'P@ST / HTTP/1.1\r\n\r\n'],
      ['a bad header', 'GET / HTTP/1.1\r\nHost: x\r\nBad Header: y\r\n\r\n'],
      ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    ] as const)
      it(`is answered with 400 and the standard error body: ${what}`, async () =>
        void expectError(await onRealServer(bytes), 400, 'invalid_request'));
  });
});
