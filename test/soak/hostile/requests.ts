// Requests of an attacker: from its own address, over sockets that it may leave unread.
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';

export interface Target {
  readonly port: number;
  readonly apiKey: string;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Counts outcomes of requests by attack and status. `lost` means that the connection ended without a response. */
export class Tally {
  readonly counts: Record<string, Record<string, number>> = {};

  add(attack: string, outcome: number | string): void {
    this.counts[attack] ??= {};
    const of = this.counts[attack];
    of[outcome] = (of[outcome] ?? 0) + 1;
  }
}

/** A caller with many connections, all from one loopback address. */
export class Caller {
  readonly #target: Target;
  readonly #agent: Agent;

  constructor(target: Target, localAddress: string, connections = 64) {
    this.#target = target;
    this.#agent = new Agent({ connections, localAddress, headersTimeout: 60_000, bodyTimeout: 60_000 });
  }

  /** Returns status 0 if the connection was refused or lost. */
  async call(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    body?: Buffer | object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const { port, apiKey } = this.#target;
    const isJson = body !== undefined && !Buffer.isBuffer(body);
    try {
      const answer = await request(`http://127.0.0.1:${port}${path}`, {
        method,
        dispatcher: this.#agent,
        headers: { apikey: apiKey, ...(isJson && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: isJson ? JSON.stringify(body) : (body as Buffer) }),
      });
      return { status: answer.statusCode, text: await answer.body.text() };
    } catch {
      return { status: 0, text: '' };
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

/** Opens a connection that the caller uses freely. `ended` resolves when the server or the signal ends it. */
export const openSocket = (port: number, localAddress: string, signal: AbortSignal) => {
  const socket: Socket = connect({ host: '127.0.0.1', port, localAddress });
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => undefined);
  const stop = (): void => void socket.destroy();
  signal.addEventListener('abort', stop);
  void ended.then(() => signal.removeEventListener('abort', stop));
  return { socket, ended };
};

/** Runs `count` concurrent loops until the signal. Each round returns the milliseconds to wait before the next. */
export const beside = async (
  count: number,
  signal: AbortSignal,
  round: (n: number) => Promise<number>,
): Promise<void> => {
  const loop = async (n: number): Promise<void> => {
    while (!signal.aborted) await pause(await round(n), undefined, { signal }).catch(() => undefined);
  };
  await Promise.all(Array.from({ length: count }, (_, n) => loop(n)));
};
