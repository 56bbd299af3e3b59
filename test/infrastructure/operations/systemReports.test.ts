// The newest report of the deployment checks: created in the background, one run at a time, and renewed when it is old.
import { expect } from 'chai';
import { systemReports } from '../../../application/operations/systemReport.ts';
import { EventStoreUnavailable } from '../../../application/ports/eventStore.ts';
import type { Finding } from '../../../application/ports/systemChecks.ts';
import { fromMillis } from '../../../domain/kernel/time.ts';
import { openLog } from '../../../infrastructure/log/log.ts';
import { openSystemReports } from '../../../infrastructure/operations/systemReports.ts';

const GOOD: readonly Finding[] = [{ check: 'clocks', isGood: true, says: 'they agree' }];
const START = Date.parse('2026-11-02T12:00:00.000Z');

/** Returns a process whose checks end when the test ends them. */
const openProcess = () => {
  const closers: (() => unknown)[] = [];
  let nowMs = START;
  const runs: PromiseWithResolvers<readonly Finding[]>[] = [];
  const reports = openSystemReports({
    clock: { now: () => nowMs },
    log: openLog('silent'),
    closing: (close) => void closers.push(close),
  });
  const run = () => {
    const ends = Promise.withResolvers<readonly Finding[]>();
    runs.push(ends);
    return ends.promise;
  };
  const uses = systemReports({
    systemReports: reports,
    systemChecks: { run },
    accounts: { realNow: () => fromMillis(nowMs) },
  } as never);
  return {
    ...uses,
    runs,
    forward: (seconds: number) => {
      nowMs += seconds * 1_000;
    },
    close: () => Promise.all(closers.map((close) => close())),
  };
};
type Process = ReturnType<typeof openProcess>;

const NO_REPORT = { report: null, isChecking: true };
const reportAt = (seconds: number, findings = GOOD) => ({ findings, madeAt: fromMillis(START + seconds * 1_000) });

describe('the report of the deployment checks', () => {
  let program: Process;
  beforeEach(() => {
    program = openProcess();
  });
  /** Ends the current run. */
  const end = async (by: (run: PromiseWithResolvers<readonly Finding[]>) => void): Promise<void> => {
    const ended = program.renewSystemReport();
    by(program.runs.at(-1) as PromiseWithResolvers<readonly Finding[]>);
    await ended;
  };

  it('is created by the first read; later reads and requests join that run', async () => {
    expect(program.systemReport()).to.deep.equal(NO_REPORT);
    expect(program.systemReport()).to.deep.equal(NO_REPORT);
    void program.renewSystemReport();
    expect(program.runs).to.have.length(1);
    program.forward(3);
    await end((run) => run.resolve(GOOD));
    expect(program.systemReport()).to.deep.equal({ report: reportAt(3), isChecking: false });
    expect(program.runs).to.have.length(1);
  });

  it('is renewed by a read one minute later, and the old one is shown meanwhile', async () => {
    program.systemReport();
    await end((run) => run.resolve(GOOD));
    program.forward(59);
    expect(program.systemReport()).to.deep.equal({ report: reportAt(0), isChecking: false });
    program.forward(1);
    expect(program.systemReport()).to.deep.equal({ report: reportAt(0), isChecking: true });
    await end((run) => run.resolve([]));
    expect(program.systemReport()).to.deep.equal({ report: reportAt(60, []), isChecking: false });
  });

  const failures: readonly (readonly [what: string, error: unknown, check: string, says: string])[] = [
    [
      'an event store that doesn’t answer',
      new EventStoreUnavailable('esdb://admin:changeit@10.0.0.7:2113 is not reachable'),
      'event store',
      'esdb://10.0.0.7:2113 is not reachable',
    ],
    [
      'any other failure, in one line and without credentials',
      new Error('no answer from\n postgres://quita:s3cr3t@db:5432/quita'),
      'checks',
      'they could not be completed: no answer from postgres://db:5432/quita',
    ],
    [
      'a failure with only a code',
      Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }),
      'checks',
      'they could not be completed: ECONNREFUSED',
    ],
  ];
  for (const [what, error, check, says] of failures)
    it(`has a line about ${what}`, async () => {
      program.systemReport();
      await end((run) => run.reject(error));
      const findings = [{ check, isGood: false, says }];
      expect(program.systemReport()).to.deep.equal({ report: reportAt(0, findings), isChecking: false });
    });

  it('is awaited when the process stops', async () => {
    program.systemReport();
    let isClosed = false;
    const closed = program.close().then(() => {
      isClosed = true;
    });
    await new Promise(setImmediate);
    expect(isClosed).to.equal(false);
    program.runs[0]?.resolve(GOOD);
    await closed;
    expect(isClosed).to.equal(true);
  });
});
