// Metrics while the database is unreachable: those that need it are missing, and the rest are reported.
import { expect } from 'chai';
import { type Counted, createMetrics } from '../../../infrastructure/monitoring/metrics.ts';

const CONSUMERS = { names: ['payments'], stuckMs: () => 3_000 };

describe('metrics', () => {
  it('omit values that can’t be read, never repeat old ones, and report the rest', async () => {
    let isDown = false;
    const read = async <T>(value: T): Promise<T> => {
      if (isDown) throw new Error('no database');
      return value;
    };
    const failures: string[] = [];
    const told = {
      projected: CONSUMERS,
      reacted: CONSUMERS,
      projector: null,
      reactor: null,
      parked: { countOf: () => 0 },
      jobs: { queues: ['deliver'], putBack: new Map(), open: () => read(4) },
      gauges: [{ name: 'held_payments', help: 'Held payments.', read: () => read(7) }],
    } as unknown as Counted;
    const { registry, onAnswer } = createMetrics(told, ({ message }) => void failures.push(message));
    onAnswer('getCharge', 503, 1);
    const needingDatabase = /^quita_(?:held_payments 7|jobs_open\{queue="deliver"\} 4)$/gm;
    expect((await registry.metrics()).match(needingDatabase)).to.have.length(2);
    isDown = true;
    const text = await registry.metrics();
    expect(text).to.not.match(/^quita_(?:held_payments|jobs_open)\b/m);
    expect(text)
      .to.include('quita_subscription_stuck_seconds{group="projector",consumer="payments"} 3\n')
      .and.include('quita_http_answer_seconds_count{operation="getCharge",status="503"} 1\n');
    expect(failures).to.deep.equal(['no database', 'no database']);
    isDown = false;
    expect((await registry.metrics()).match(needingDatabase)).to.have.length(2);
  });
});
