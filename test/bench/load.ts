// Sends orders to the load generator’s process and summarises its answers.
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { LoadOrder, LoadResult } from './loadProcess.ts';
import { quantile } from './statistics.ts';

export interface Load {
  readonly answered: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export class LoadGenerator {
  readonly #process: ChildProcess;

  constructor() {
    this.#process = fork(join(import.meta.dirname, 'loadProcess.ts'));
  }

  /** Rejects if any request was not answered with 201, because a rate that includes rejected requests means nothing. */
  run(order: Omit<LoadOrder, 'name'>): Promise<Load> {
    return new Promise((resolve, reject) => {
      this.#process.once('message', (result: LoadResult) => {
        const { answered, refused, firstRefusal, seconds, latenciesMs } = result;
        if (refused > 0)
          return reject(new Error(`${refused} of ${refused + answered} requests were refused: ${firstRefusal}`));
        const p50Ms = quantile(latenciesMs, 0.5);
        resolve({ answered, perSecond: answered / seconds, p50Ms, p99Ms: quantile(latenciesMs, 0.99) });
      });
      this.#process.send({ ...order, name: randomUUID() } satisfies LoadOrder);
    });
  }

  close(): void {
    this.#process.disconnect();
  }
}
