// The hourly limit of a customer, while two processes handle one Idempotency-Key (rule E6).
import { expect } from 'chai';
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import { Accounts } from '../../../application/core/accounts.ts';
import { CreateChargeHandler } from '../../../application/payments/create.ts';
import { InstrumentIssuer } from '../../../application/payments/issueInstruments.ts';
import type { VelocityGuard } from '../../../application/ports/velocityGuard.ts';
import { chargeRequest } from '../../../domain/charge/request.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { velocityGuard } from '../../../infrastructure/payments/velocityGuard.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { systemStopwatch } from '../../../infrastructure/system/system.ts';
import { type Core, openCore } from '../../support/core.ts';
import { memoryTimers } from '../../world/memoryTimers.ts';
import { useDatabase } from '../../world/postgres.ts';

const ANA = '99991111140';
const BRUNO = '99992222263';

describe('the hourly limit of a customer, with one key in two processes', () => {
  let core: Core;
  let db: PgPool;
  useDatabase('suite', 2, (opened) => {
    db = opened;
  });
  before(async () => {
    core = await openCore();
  });
  after(() => core.close());

  const newProcess = (velocity: VelocityGuard): CreateChargeHandler => {
    const { clock, provider: providers } = core;
    const commands = core.anotherProcess();
    const accounts = new Accounts(commands, clock, DECLARED_SETTINGS);
    const issuer = new InstrumentIssuer({ commands, accounts, providers, timers: memoryTimers() });
    return new CreateChargeHandler({ commands, clock, stopwatch: systemStopwatch, providers, issuer, velocity });
  };
  const ask = async (handler: CreateChargeHandler, idempotencyKey: string, document: string): Promise<string> => {
    const velocity = { customerPerHour: 1, accountPerHour: 1_000 };
    const body = { amount: 1_234, payment_method: 'pix', customer: { name: 'X', document } };
    const done = await handler.handle({
      account: { ...core.account, settings: { ...core.account.settings, velocity } },
      mode: 'live',
      request: chargeRequest(body),
      idempotencyKey,
      baseUrl: 'https://pay.example.com',
      actor: 'key:0123456789abcdef',
      requestId: 'req_1',
    });
    return isRejection(done) ? done.code : 'created';
  };

  it('counts a charge although another process was asked to create it for another customer meanwhile', async () => {
    const guard = velocityGuard({ db, payments: { endedAmong: async () => ({ ended: [], unknown: [] }) } });
    /** The first process reserves, then the second one; then the first one stores its charge, and last the second one. */
    const pair = async (key: string): Promise<readonly string[]> => {
      const [hasReserved, hasStored] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let other: Promise<string> | null = null;
      const second = newProcess({
        reserve: async (wish) => {
          const outcome = await guard.reserve(wish);
          hasReserved.resolve();
          await hasStored.promise;
          return outcome;
        },
      });
      const first = newProcess({
        reserve: async (wish) => {
          const outcome = await guard.reserve(wish);
          if (outcome !== 'reserved') return outcome;
          other = ask(second, key, BRUNO);
          await hasReserved.promise;
          return outcome;
        },
      });
      const answer = await ask(first, key, ANA);
      hasStored.resolve();
      return other === null ? [answer] : [answer, await other];
    };
    expect(await pair('order-0001')).to.deep.equal(['created', 'idempotency_request_in_progress']);
    expect(await pair('order-0002')).to.deep.equal(['fraud.customer_velocity_exceeded']);
    // A repeat learns that the key was used for another charge.
    expect(await ask(newProcess(guard), 'order-0001', BRUNO)).to.equal('idempotency_key_reused');
  });
});
