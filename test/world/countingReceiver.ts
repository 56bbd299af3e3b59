// The receiver of countingReceiverProcess.ts, as the test that started it talks to it.
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';

export type ReceiverOrder = { readonly tellAt: number } | { readonly report: true };

export interface Arrivals {
  /** Distinct `X-Acme-Delivery-Id`s. */
  readonly deliveries: number;
  /** Distinct `webhook-id`s. */
  readonly eventIds: number;
  /** Requests beyond the first of a delivery. */
  readonly duplicates: number;
  /** Duplicates with another event id or another body than the first. */
  readonly changed: readonly string[];
  /** `<event> <id of the payment>`, of each delivery. */
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

  /** Resolves when so many distinct deliveries have come. One may wait at a time. */
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
