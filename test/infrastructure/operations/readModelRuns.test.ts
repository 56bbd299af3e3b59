// Background work on read models: every process knows the runs of all others, and a stop waits for its own.
import { expect } from 'chai';
import type { ReadModelRun, RunOutcome } from '../../../application/ports/readModelRuns.ts';
import { AlreadyRunning } from '../../../application/ports/readModelWork.ts';
import { openLog } from '../../../infrastructure/log/log.ts';
import { openReadModelRuns } from '../../../infrastructure/operations/readModelRuns.ts';

const VERIFY = { work: 'verify', readModel: 'all', by: 'user:usr_x' } as const;
const OUTCOME: RunOutcome = {
  rebuilt: [],
  verified: { rows: 3, differences: 0, tables: [], parkedStreams: 0 },
};

/** Processes that share one database. */
class Processes {
  readonly #listeners: ((payload: string) => void)[] = [];
  #heard: () => void = () => undefined;
  nowMs = Date.parse('2026-11-02T12:00:00.000Z');

  async open(lostMs?: number) {
    const closers: (() => unknown)[] = [];
    const query = async (_: unknown, values: readonly unknown[] = []) => {
      this.say(values[1] as string);
      this.#heard();
      return { rows: [], rowCount: 0 };
    };
    const notices = {
      on: async (_: string, listener: (payload: string) => void) => {
        this.#listeners.push(listener);
        return () => undefined;
      },
    };
    const runs = await openReadModelRuns({
      storage: { operations: { query: query as never }, notices },
      clock: { now: () => this.nowMs++ },
      log: openLog('silent'),
      closing: (close) => void closers.push(close),
      ...(lostMs !== undefined && { lostMs }),
    });
    const stop = async () => {
      for (const close of closers) await close();
    };
    return { runs, stop };
  }

  say(payload: string): void {
    for (const listener of this.#listeners) listener(payload);
  }

  /** Resolves when a report makes the condition true. */
  until(isTrue: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#heard = () => isTrue() && resolve();
      this.#heard();
    });
  }
}

const shown = ([run]: readonly ReadModelRun[]) =>
  run && { state: run.state, share: run.share, what: run.what, outcome: run.outcome, error: run.error };

describe('background work on read models', () => {
  it('is known to every process from its start to its result', async () => {
    const processes = new Processes();
    const [one, other] = [await processes.open(), await processes.open()];
    const { promise, resolve } = Promise.withResolvers<RunOutcome>();
    const started = one.runs.start(VERIFY, (_, onProgress) => {
      onProgress({ share: 0.5, what: 'half of it' });
      return promise;
    });
    expect(started).to.deep.include({ ...VERIFY, state: 'running', endedAt: null });
    await processes.until(() => other.runs.list()[0]?.state === 'running');
    expect(other.runs.list()[0]?.id).to.equal(started.id);
    resolve(OUTCOME);
    await processes.until(() => other.runs.list()[0]?.state === 'done');
    for (const { runs } of [one, other])
      expect(shown(runs.list())).to.deep.equal({
        ...{ state: 'done', share: 1, what: 'half of it' },
        ...{ outcome: OUTCOME, error: null },
      });
  });

  it('ignores notices that describe no run', async () => {
    const processes = new Processes();
    const { runs } = await processes.open();
    processes.say('{"id":"one"}');
    processes.say('{"id":"two"}');
    expect(runs.list()).to.deep.equal([]);
  });

  it('reports why it failed, without data quoted by an error', async () => {
    const processes = new Processes();
    const { runs } = await processes.open();
    const cases = [
      [
        new AlreadyRunning('payments is being rebuilt by another process'),
        'payments is being rebuilt by another process',
      ],
      [new Error('duplicate key 39053344705'), 'see the log'],
    ] as const;
    for (const [error, says] of cases) {
      const { id } = runs.start(VERIFY, () => Promise.reject(error));
      const found = () => runs.list().find((run) => run.id === id);
      await processes.until(() => found()?.state === 'failed');
      expect(found()).to.deep.include({ error: says, outcome: null });
    }
  });

  it('ends when its process stops, which waits for it', async () => {
    const processes = new Processes();
    const { runs, stop } = await processes.open();
    let isOver = false;
    const begun = Promise.withResolvers<void>();
    runs.start(VERIFY, async (signal) => {
      begun.resolve();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      isOver = true;
      throw new Error('stopped');
    });
    await begun.promise;
    await stop();
    expect(isOver).to.equal(true);
    expect(runs.list()[0]).to.deep.include({ state: 'failed' });
    expect(runs.list()[0]?.error).to.match(/the process stopped/);
  });

  it('is shown as lost if its process no longer reports; the newest 20 runs are kept', async () => {
    const processes = new Processes();
    const [one, other] = [await processes.open(), await processes.open(-1)];
    const { resolve, promise } = Promise.withResolvers<RunOutcome>();
    one.runs.start(VERIFY, () => promise);
    await processes.until(() => other.runs.list().length === 1);
    expect(other.runs.list()[0]?.state).to.equal('lost');
    resolve(OUTCOME);
    await processes.until(() => other.runs.list()[0]?.state === 'done');
    for (let n = 0; n < 21; n++) one.runs.start({ ...VERIFY, by: `user:${n}` }, async () => OUTCOME);
    await one.stop();
    expect(one.runs.list().map(({ by }) => by)).to.deep.equal(Array.from({ length: 20 }, (_, n) => `user:${20 - n}`));
    await other.stop();
  });
});
