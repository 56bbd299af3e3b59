// Whether what was begun for a tenant has come to rest, as drains and the sandbox's flush ask for it (X5, X7).
import { expect } from 'chai';
import { CAPABILITIES } from '../../../application/capabilities.ts';
import { jobsOf } from '../../../application/core/capabilityList.ts';
import { Quiescence } from '../../../application/core/quiescence.ts';
import type { Tenant } from '../../../domain/kernel/ids.ts';
import { RecordingJobs } from '../../support/operations.ts';
import { ACCOUNT_ID } from '../../support/samples.ts';

const TENANT: Tenant = { accountId: ACCOUNT_ID, mode: 'test' };

/** Answers one question after the other; the last answer stands. `asked` tells what was asked for, in order. */
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

describe('a tenant is idle', () => {
  it('when none of the jobs that are begun at once is under way, and what the last of them wrote was reacted to', async () => {
    const { asked, quiescence } = scene({});
    expect(await quiescence.whenIdle(TENANT, 1_000)).to.equal(true);
    expect(asked).to.deep.equal([AWAITED, 'processes caught up', AWAITED]);
  });

  it('not while what the last job wrote has started the next one', async () => {
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

  it('never, when a job stays under way: it is given up at the time-out', async () => {
    expect(await scene({ underWay: [1] }).quiescence.whenIdle(TENANT, 1_000)).to.equal(false);
  });

  it('never, when the processes do not catch up', async () => {
    expect(await scene({ reacted: false }).quiescence.whenIdle(TENANT, 1_000)).to.equal(false);
  });
});

describe('messages that are still to be written down', () => {
  it('are the open jobs that write them, and the read models are not waited for meanwhile', async () => {
    const { asked, quiescence } = scene({ open: 3 });
    expect(await quiescence.unwritten(TENANT, 1_000)).to.equal(2 * 3);
    expect(asked).to.deep.equal(['processes caught up', 'open for test: fanOut', 'open for test: redrive']);
  });

  it('are none when no such job is open and processes and read models have caught up', async () => {
    const { asked, quiescence } = scene({});
    expect(await quiescence.unwritten(TENANT, 1_000)).to.equal(0);
    expect(asked).to.deep.equal([
      'processes caught up',
      'open for test: fanOut',
      'open for test: redrive',
      'read models caught up',
    ]);
  });

  it('are one at least while the processes, whose jobs would write them, are behind', async () =>
    expect(await scene({ reacted: false }).quiescence.unwritten(TENANT, 1_000)).to.equal(1));

  it('are one at least while the read models do not show what was written', async () =>
    expect(await scene({ projected: false }).quiescence.unwritten(TENANT, 1_000)).to.equal(1));
});
