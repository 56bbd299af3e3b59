// The watchdog finds work that has no job and enqueues it, so that a lost job never loses work (architecture §7).

import { expect } from 'chai';
import { CAPABILITIES } from '../../../application/capabilities.ts';
import { BY_ROW, job, jobKind, owedBy, payloadOf, text } from '../../../application/core/capability.ts';
import { jobsOf } from '../../../application/core/capabilityList.ts';
import { enqueueOwedWork, lookIfLeading, type WatchdogNeeds } from '../../../application/core/watchdog.ts';
import type { JobRequest } from '../../../application/ports/jobs.ts';
import type { AccountId } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { fromMillis } from '../../../domain/kernel/time.ts';
import { makeEndToEndId } from '../../../domain/pix/ids.ts';
import { RecordingJobs } from '../../support/operations.ts';
import { newKey, TestGateway } from '../../world/gateway.ts';
import { rawIdOf } from '../../world/http.ts';
import { Receiver } from '../../world/receiver.ts';
import { RefundDesk } from '../../world/refundDesk.ts';
import { NO_SCHEDULES } from '../../world/withoutWorld.ts';

const HOUR_MS = 3_600_000;

/** Discards every job of this queue when it is written. */
const LOSING = (queue: string) => `
  CREATE OR REPLACE FUNCTION jobs.lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
  CREATE TRIGGER lose BEFORE INSERT ON jobs.job_common FOR EACH ROW WHEN (NEW.name = '${queue}') EXECUTE FUNCTION jobs.lose()`;

/** All jobs except routine ones, which start by the clock. */
const WATCHED = jobsOf(CAPABILITIES).filter(({ routine }) => routine === undefined);

/** Returns the values of a job's payload as one text. */
const aboutOf = ({ payload }: JobRequest): string => Object.values(payload).join(' ');

describe('the watchdog', () => {
  let test: TestGateway;
  let aheadMs = 0;
  const clock = { now: () => Date.now() + aheadMs };
  before(async () => {
    test = await TestGateway.open({ clock, startSchedule: NO_SCHEDULES });
  });
  after(() => test.close());

  const sql = (text: string, values: unknown[] = []) => test.storage.operations.query(text, values);
  /** Runs `work` while every job of the queue is discarded. Resolves when the reactions to it are written. */
  const losing = async <T>(queue: string, work: () => Promise<T>): Promise<T> => {
    for (const statement of LOSING(queue).split(/;\n(?= *CREATE TRIGGER)/)) await sql(statement);
    try {
      const result = await work();
      expect(await test.gateway.reacted.caughtUp(30_000)).to.equal(true);
      return result;
    } finally {
      await sql('DROP TRIGGER lose ON jobs.job_common');
    }
  };
  const until = async (holds: () => Promise<boolean>): Promise<void> => {
    for (const end = Date.now() + 30_000; !(await holds()); ) if (Date.now() > end) expect.fail('not within 30 s');
  };
  const statusOf = async (id: string) => (await test.get<{ status: string }>(`/v1/charges/${id}`)).body.status;
  const idle = (queue: string) => until(async () => (await test.gateway.jobs.open(queue)) === 0);
  const found = async (queue: string, now?: number) =>
    (await run(now)).filter((job) => job.queue === queue).map(aboutOf);

  const run = async (now = clock.now()): Promise<readonly JobRequest[]> => {
    const { gateway } = test;
    await gateway.projected.caughtUp(30_000);
    return enqueueOwedWork(WATCHED, { ...gateway.needs, clock: { now: () => now } });
  };
  const settled = (id: string) =>
    new Promise<string>((resolve) => {
      const undo = test.gateway.projected.onMove(async () => {
        const { body } = await test.get<{ status: string }>(`/v1/charges/${id}`);
        if (body.status === 'pending') return;
        undo();
        resolve(body.status);
      });
    });

  it('finds nothing if no work is overdue', async () => {
    await test.charge();
    expect(await run()).to.deep.equal([]);
  });

  it('settles a Pix whose job was lost', async () => {
    const { body } = await test.charge<{ id: string; pix: { txid: string } }>();
    const [raw, account] = [body.id.slice('ch_'.length), test.tenant.accountId];
    const endToEndId = makeEndToEndId({ ispb: '99999004', at: fromMillis(Date.now()), suffix: 'lost0000000' });
    const { operations } = test.storage;
    await operations.query(
      `INSERT INTO sandbox_bank.payments (account_id, provider_payment_id, txid, amount, paid_at) VALUES ($1, $2, $3, $4, now())`,
      [account, endToEndId, body.pix.txid, toMinor(1234)],
    );
    await operations.query(
      `INSERT INTO operations.provider_notifications (account_id, mode, reference, payment_id, received_at)
       VALUES ($1, 'test', $2, $3, now() - interval '10 minutes')`,
      [account, endToEndId, raw],
    );
    const paid = settled(body.id);
    expect(await run()).to.deep.equal([
      {
        queue: 'settle',
        tenant: { accountId: account, mode: 'test' },
        payload: { accountId: account, mode: 'test', reference: endToEndId },
      },
    ]);
    expect(await paid).to.equal('paid');
    expect(await run()).to.deep.equal([]);
  });

  it('enqueues every refund whose job was lost, and ignores those in progress at the bank', async () => {
    const { storage, gateway } = test;
    const desk = await RefundDesk.open(test);
    const charge = await desk.paid(100);
    for (const amount of [1, 2, 3]) await desk.refund(charge, { amount });
    await desk.untilStatuses(charge, 'IN_PROGRESS', 'IN_PROGRESS', 'IN_PROGRESS');
    const refunds = (await desk.list(charge)).map(({ id }) => rawIdOf(id));
    const refundsFound = async () =>
      (await run(Date.now() + HOUR_MS))
        .filter(({ queue }) => queue === 'refund')
        .map(({ payload }) => payload['refundId'] as string);
    expect(await gateway.reacted.caughtUp(30_000)).to.equal(true);
    expect(await refundsFound()).to.deep.equal([]);
    const [one, other] = refunds as [string, string];
    await storage.operations.query("DELETE FROM operations.timers WHERE kind = 'refund' AND key = ANY($1)", [
      [one, other],
    ]);
    await storage.operations.query('UPDATE sandbox_bank.refunds SET status = $1 WHERE refund_id = ANY($2)', [
      'confirmed',
      [one, other],
    ]);
    expect((await refundsFound()).toSorted()).to.deep.equal([one, other].toSorted());
    await desk.untilStatuses(charge, 'REFUNDED', 'REFUNDED', 'IN_PROGRESS');
    expect(await refundsFound()).to.deep.equal([]);
  });

  it('enqueues the expiry of an overdue charge, unless its timer is set', async () => {
    const { body } = await test.charge<{ id: string }>({ expires_in: 3600 });
    const raw = rawIdOf(body.id);
    expect(await test.gateway.reacted.caughtUp(30_000)).to.equal(true);
    expect(await found('expire', Date.now() + 2 * HOUR_MS)).not.to.include(raw);
    await sql("DELETE FROM operations.timers WHERE kind = 'expire'");
    expect(await found('expire', Date.now() + 2 * HOUR_MS)).to.include(raw);
    expect(await statusOf(body.id), 'the account’s own time decides').to.equal('pending');
  });

  it('finds a payment whose instruments were never issued, and issues them once', async () => {
    const made = await losing('issueInstruments', () =>
      test.post<{ id: string; status: string }>('/v1/payments', {
        amount: 500,
        currency: 'BRL',
        paymentMethods: ['PIX'],
        idempotencyKey: newKey(),
      }),
    );
    expect(made.status, made.text).to.equal(201);
    const issued = async () =>
      (
        await sql("SELECT FROM event_store.events WHERE stream = $1 AND type = 'ChargePixIssued'", [
          `payment-${made.body.id}`,
        ])
      ).rowCount;
    expect(await found('issueInstruments')).to.deep.equal([]);
    expect([await issued(), await found('issueInstruments', Date.now() + 61_000)]).to.deep.equal([0, [made.body.id]]);
    await idle('issueInstruments');
    expect(await test.gateway.projected.caughtUp(30_000)).to.equal(true);
    expect([await found('issueInstruments', Date.now() + 61_000), await issued()]).to.deep.equal([[], 1]);
  });

  it('returns a payment with a wrong amount whose return job was lost', async () => {
    const { body } = await test.charge<{ id: string }>({ amount: 700 });
    const endToEndId = makeEndToEndId({ ispb: '99999004', at: fromMillis(Date.now()), suffix: 'back0000000' });
    await losing('returnPayment', () =>
      test.post(`/v1/sandbox/charges/${body.id}/pay`, { amount: 1, end_to_end_id: endToEndId }),
    );
    const returned = async () =>
      (await sql('SELECT FROM sandbox_bank.returns WHERE provider_payment_id = $1', [endToEndId])).rowCount;
    const item = `${rawIdOf(body.id)} ${endToEndId}`;
    expect([await returned(), await found('returnPayment', Date.now() + 61_000)]).to.deep.equal([0, [item]]);
    await idle('returnPayment');
    expect(await test.gateway.projected.caughtUp(30_000)).to.equal(true);
    expect([await found('returnPayment', Date.now() + 61_000), await returned()]).to.deep.equal([[], 1]);
  });

  describe('for webhooks', () => {
    let receiver: Receiver;
    before(async () => {
      receiver = await Receiver.open();
      const { status, text } = await test.post('/v1/webhooks/endpoints', {
        url: receiver.url,
        events: ['charge.paid'],
      });
      expect(status, text).to.equal(201);
    });
    after(() => receiver.close());
    const paid = async () => {
      const { body } = await test.charge<{ id: string }>();
      const reply = await test.post(`/v1/sandbox/charges/${body.id}/pay`);
      expect(reply.status, reply.text).to.equal(200);
    };
    beforeEach(() => {
      receiver.got.length = 0;
    });

    it('schedules messages whose fan-out job was lost, once, from the record beside the job', async () => {
      await losing('fanOut', paid);
      expect(await found('fanOut')).to.deep.equal([]);
      await sql("UPDATE operations.owed SET since = now() - interval '61 s'");
      expect(await found('fanOut')).not.to.deep.equal([]);
      await receiver.until(() => true);
      await idle('fanOut');
      await sql("UPDATE operations.owed SET since = now() - interval '61 s'");
      expect(await found('fanOut')).to.deep.equal([]);
      expect((await test.post<{ pending: number }>('/v1/sandbox/deliveries/flush')).body.pending).to.equal(0);
      expect(receiver.got).to.have.length(1);
    });

    it('sends a message whose delivery job was lost, once', async () => {
      await losing('deliver', async () => {
        await paid();
        await until(async () => (await sql('SELECT FROM operations.owed')).rowCount === 0);
      });
      expect(await found('deliver')).to.deep.equal([]);
      expect(await found('deliver', Date.now() + 61_000)).to.have.length(1);
      await receiver.until(() => true);
      await idle('deliver');
      expect(await test.gateway.projected.caughtUp(30_000)).to.equal(true);
      expect(await found('deliver', Date.now() + 61_000)).to.deep.equal([]);
      expect(receiver.got).to.have.length(1);
    });
  });

  it('drains a clock whose drain job was lost', async () => {
    const { body } = await test.charge<{ id: string }>({ expires_in: 3600 });
    const advanced = await losing('drainClock', async () => {
      const answer = test.post('/v1/sandbox/clock/advance', { seconds: 7_200 });
      await until(async () => (await sql('SELECT FROM operations.test_clocks WHERE draining')).rowCount === 1);
      return { answer };
    });
    expect(await statusOf(body.id)).to.equal('pending');
    expect(await found('drainClock')).to.deep.equal([test.tenant.accountId]);
    expect((await advanced.answer).status).to.equal(200);
    expect(await statusOf(body.id)).to.equal('expired');
    expect(await found('drainClock')).to.deep.equal([]);
  });

  it('uses the account’s clock if it is ahead', async () => {
    const { body } = await test.charge<{ id: string }>({ expires_in: 3600 });
    expect(await test.gateway.reacted.caughtUp(30_000)).to.equal(true);
    await sql("DELETE FROM operations.timers WHERE kind = 'expire'");
    const raw = rawIdOf(body.id);
    expect(await found('expire', Date.now())).not.to.include(raw);
    expect(await found('expire', Date.now() + HOUR_MS + 120_000)).to.include(raw); // the account is two hours ahead of that
    await idle('expire');
    aheadMs = HOUR_MS + 120_000;
    expect(await found('expire')).to.include(raw);
    await until(async () => (await statusOf(body.id)) === 'expired');
    aheadMs = 0;
  });

  it('enqueues nothing in ten looks while overdue work has open jobs, and enqueues each once when they are gone', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push(rawIdOf((await test.charge<{ id: string }>({ expires_in: 3600 })).body.id));
    expect(await test.gateway.reacted.caughtUp(30_000)).to.equal(true);
    await sql("DELETE FROM operations.timers WHERE kind = 'expire'");
    await losing('settle', async () => {
      expect(await test.gateway.projected.caughtUp(30_000)).to.equal(true);
      await sql(
        `INSERT INTO jobs.job_common (name, data, group_id, group_tier, policy, state, heartbeat_on)
         SELECT 'expire', jsonb_build_object('payloads', jsonb_agg(jsonb_build_object('paymentId', id))), 'test/' || $1, '', 'standard', 'active', 'infinity' FROM rm_payments.payments`,
        [test.tenant.accountId],
      );
      const looks: number[] = [];
      for (let look = 0; look < 10; look++) looks.push((await found('expire', Date.now() + 2 * HOUR_MS)).length);
      expect(looks).to.deep.equal(Array.from({ length: 10 }, () => 0));
      expect((await sql("SELECT FROM jobs.job_common WHERE name = 'expire'")).rowCount).to.equal(1);
      await sql("DELETE FROM jobs.job_common WHERE name = 'expire'");
    });
    const again = await found('expire', Date.now() + 2 * HOUR_MS);
    expect(again.filter((id) => ids.includes(id)).toSorted()).to.deep.equal(ids.toSorted());
  });

  it('enqueues the work of the other sources if some fail, and then throws the first error', async () => {
    const tenant = { accountId: test.tenant.accountId as AccountId, mode: 'test' } as const;
    const of = (name: string, source: (() => AsyncIterable<readonly string[]>) | null) =>
      job(jobKind({ name, payload: payloadOf({ id: text }), subjectOf: ({ id }) => id }), {
        handler: (_: WatchdogNeeds) => ({ run: async () => undefined }),
        places: { places: 1, perTarget: 1 },
        idle: 'apart',
        owed: source === null ? BY_ROW : owedBy(source, (id) => ({ tenant, payload: { id } })),
      });
    async function* fails(message: string): AsyncGenerator<never> {
      yield* [];
      throw new Error(message);
    }
    async function* finds(id: string) {
      yield [id];
    }
    const jobs = new RecordingJobs();
    jobs.owedByRow = () => fails('no rows');
    const declared = [of('rows', null), of('first', () => fails('no query')), of('second', () => finds('lost'))];
    const failure = await enqueueOwedWork(declared, { ...test.gateway.needs, jobs }).catch(
      (error: Error) => error.message,
    );
    expect([failure, jobs.enqueued]).to.deep.equal(['no rows', [{ queue: 'second', tenant, payload: { id: 'lost' } }]]);
  });

  it('looks only if the reactor leads', async () => {
    const jobs = new RecordingJobs();
    const later = { now: () => Date.now() + 3 * HOUR_MS };
    const needs = { ...test.gateway.needs, jobs, clock: later };
    await lookIfLeading(() => false, WATCHED, needs);
    expect(jobs.enqueued).to.deep.equal([]);
    await lookIfLeading(() => true, WATCHED, needs);
    expect(jobs.enqueued).not.to.deep.equal([]);
  });
});

describe('scheduled work', () => {
  it('fails no run on the first start, before the read models exist', async () => {
    const rounds: (() => Promise<void>)[] = [];
    const test = await TestGateway.open({
      startSchedule: (_pattern, run) => {
        rounds.push(run);
        return async () => undefined;
      },
    });
    try {
      const { operations } = test.storage;
      const failures = async () => {
        const ended = await Promise.allSettled(rounds.map((run) => run()));
        return ended.filter(({ status }) => status === 'rejected').length;
      };
      await operations.query(`DELETE FROM subscriptions.checkpoints WHERE name = 'webhookDeliveries'`);
      await operations.query('DROP SCHEMA rm_webhook_deliveries CASCADE');
      expect(await failures()).to.equal(0);
      await operations.query(
        `INSERT INTO subscriptions.checkpoints (name, version, store_id)
         SELECT 'webhookDeliveries', version, store_id FROM subscriptions.checkpoints LIMIT 1`,
      );
      expect(await failures(), 'they need the tables').to.be.above(0);
    } finally {
      await test.close();
    }
  });
});
