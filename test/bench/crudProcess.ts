// The CRUD baseline as a process, with its fastest pool size.
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { newDataDir, removeDataDir } from '../world/program.ts';
import type { BaselineOrder, BaselineReady } from './crudBaseline.ts';

const reply = <T>(child: ChildProcess): Promise<T> =>
  new Promise((resolve) => child.once('message', (message) => resolve(message as T)));

export class CrudProcess {
  readonly port: number;
  readonly apiKeys: readonly string[];
  readonly #process: ChildProcess;
  readonly #dataDir: string;

  private constructor(child: ChildProcess, dataDir: string, { port, apiKey }: BaselineReady) {
    this.#process = child;
    this.#dataDir = dataDir;
    this.port = port;
    this.apiKeys = [apiKey];
  }

  static async start(): Promise<CrudProcess> {
    const dataDir = await newDataDir();
    const child = fork(join(import.meta.dirname, 'crudBaseline.ts'), [dataDir]);
    return new CrudProcess(child, dataDir, await reply<BaselineReady>(child));
  }

  /** Changes the size of the pool. Returns the number of charges in the table. */
  async usePool(poolSize: number): Promise<number> {
    const answer = reply<{ charges: number }>(this.#process);
    this.#process.send({ poolSize } satisfies BaselineOrder);
    return (await answer).charges;
  }

  async stop(): Promise<void> {
    const exited = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.disconnect();
    await exited;
    await removeDataDir(this.#dataDir);
  }
}
