// Whether all work started for a tenant has finished, as drains and the sandbox’s flush ask (X5, X7).
import { expect } from 'chai';
import { CAPABILITIES } from '../../../application/capabilities.ts';
import { jobsOf } from '../../../application/core/capabilityList.ts';
import { Quiescence } from '../../../application/core/quiescence.ts';
import type { Tenant } from '../../../domain/kernel/ids.ts';
import { RecordingJobs } from '../../support/operations.ts';
import { ACCOUNT_ID } from '../../support/samples.ts';

const TENANT: Tenant = { accountId: ACCOUNT_ID, mode: 'test' };

/** Answers each `underWay` query with the next value; the last value repeats. `asked` records the queries in order. */
const scene = ({
  underWay = [0],
  open = 0,
  reacted = true,
  projected = true,
}: {
  readonly underWay?: readonly number[];
  readonly open?: number;
  readonly reacted?: boolean;
  readonly projected?: boolean;
}) => {
  const asked: string[] = [];
  const answers = [...underWay];
  class Jobs extends RecordingJobs {
    override async underWay(queues: readonly string[] = [], tenant?: Tenant): Promise<number> {
      asked.push(`under way for ${tenant?.mode}: ${queues.join(' ')}`);
      return (answers.length > 1 ? answers.shift() : answers[0]) as number;
    }
    override async open(queue = '', tenant?: Tenant): Promise<number> {
      asked.push(`open for ${tenant?.mode}: ${queue}`);
      return open;
    }
  }
  const progress = (name: string, isCaughtUp: boolean) => ({
    caughtUp: async () => {
      asked.push(`${name} caught up`);
      return isCaughtUp;
    },
    onMove: () => () => undefined,
  });
  let elapsedMs = 0;
  const stopwatch = {
    elapsedMs: () => elapsedMs,
    pause: async (ms: number) => {
      elapsedMs += ms;
    },
  };
  const needs = {
    jobs: new Jobs(),
    stopwatch,
    projected: progress('read models', projected),
    reacted: progress('processes', reacted),
  };
  return { asked, quiescence: new Quiescence(needs, jobsOf(CAPABILITIES)) };
};

const BEGUN_AT_ONCE = jobsOf(CAPABILITIES).filter(({ idle }) => idle === 'awaited');
const AWAITED = `under way for test: ${BEGUN_AT_ONCE.map(({ kind }) => kind.name).join(' ')}`;

describe('whenIdle', () => {
  it('waits until no awaited job is running and the processes have handled what the last job appended', async () => {
    const { asked, quiescence } = scene({});
    expect(await quiescence.whenIdle(TENANT, 1_000)).to.equal(true);
    expect(asked).to.deep.equal([AWAITED, 'processes caught up', AWAITED]);
  });

  it('waits again if the last job’s events have started another job', async () => {
    const { asked, quiescence } = scene({ underWay: [0, 1, 1, 0] });
    expect(await quiescence.whenIdle(TENANT, 1_000)).to.equal(true);
    expect(asked).to.deep.equal([
      AWAITED,
      'processes caught up',
      AWAITED,
      AWAITED,
      AWAITED,
      'processes caught up',
      AWAITED,
    ]);
  });

  it('returns false at the timeout if a job keeps running', async () => {
    expect(await scene({ underWay: [1] }).quiescence.whenIdle(TENANT, 1_000)).to.equal(false);
  });

  it('returns false if the processes don’t catch up', async () => {
    expect(await scene({ reacted: false }).quiescence.whenIdle(TENANT, 1_000)).to.equal(false);
  });
});

describe('unwritten', () => {
  it('counts the open jobs that write messages, without waiting for the read models', async () => {
    const { asked, quiescence } = scene({ open: 3 });
    expect(await quiescence.unwritten(TENANT, 1_000)).to.equal(2 * 3);
    expect(asked).to.deep.equal(['processes caught up', 'open for test: fanOut', 'open for test: redrive']);
  });

  it('returns zero if no such job is open and the processes and read models have caught up', async () => {
    const { asked, quiescence } = scene({});
    expect(await quiescence.unwritten(TENANT, 1_000)).to.equal(0);
    expect(asked).to.deep.equal([
      'processes caught up',
      'open for test: fanOut',
      'open for test: redrive',
      'read models caught up',
    ]);
  });

  it('returns at least one while the processes that enqueue these jobs lag', async () =>
    expect(await scene({ reacted: false }).quiescence.unwritten(TENANT, 1_000)).to.equal(1));

  it('returns at least one while the read models lag', async () =>
    expect(await scene({ projected: false }).quiescence.unwritten(TENANT, 1_000)).to.equal(1));
});
