// The client of countingReceiverProcess.ts in the test that started it.
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';

export type ReceiverOrder = { readonly tellAt: number } | { readonly report: true };

export interface Arrivals {
  /** Distinct `X-Acme-Delivery-Id`s. */
  readonly deliveries: number;
  /** Distinct `webhook-id`s. */
  readonly eventIds: number;
  /** Requests after the first one of each delivery. */
  readonly duplicates: number;
  /** Duplicates whose event id or body differs from the first request. */
  readonly changed: readonly string[];
  /** `<event> <payment id>` of each delivery. */
  readonly events: readonly string[];
}

export class CountingReceiver {
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(url: string, process: ChildProcess) {
    this.url = url;
    this.#process = process;
  }

  static async open(): Promise<CountingReceiver> {
    const child = fork(join(import.meta.dirname, 'countingReceiverProcess.ts'));
    const { port } = await reply<{ port: number }>(child);
    return new CountingReceiver(`http://127.0.0.1:${port}/hook`, child);
  }

  /** Resolves when this number of distinct deliveries has arrived. Only one call may wait at a time. */
  async reached(deliveries: number): Promise<void> {
    await this.#ask({ tellAt: deliveries });
  }

  arrivals(): Promise<Arrivals> {
    return this.#ask<Arrivals>({ report: true });
  }

  close(): void {
    this.#process.disconnect();
  }

  #ask<T>(order: ReceiverOrder): Promise<T> {
    const answer = reply<T>(this.#process);
    this.#process.send(order);
    return answer;
  }
}

const reply = <T>(child: ChildProcess): Promise<T> =>
  new Promise((resolve, reject) => {
    const ended = (): void => reject(new Error('the receiver has ended'));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message as T);
    });
  });
