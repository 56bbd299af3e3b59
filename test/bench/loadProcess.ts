// The load generator: a separate process that speaks HTTP/1.1 over bare sockets, because it shares the cores with the measured programs.
// In the closed model, every connection sends a request as soon as the previous one is answered. In the open model, requests are due at a
// fixed rate, independent of the answers. Latency counts from the due time, so a stall shows in every delayed request.
import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';

export interface LoadOrder {
  readonly port: number;
  /** Keys are used in turn. */
  readonly apiKeys: readonly string[];
  readonly connections: number;
  readonly durationMs: number;
  /** Requests per second of the open model; null: closed model. */
  readonly perSecond: number | null;
  /** Prefix of the idempotency keys, unique per order. */
  readonly name: string;
}

export interface LoadResult {
  readonly answered: number;
  readonly refused: number;
  readonly firstRefusal: string | null;
  readonly seconds: number;
  /** Milliseconds, one per answer, unordered. */
  readonly latenciesMs: readonly number[];
}

const bodyOf = (n: number): string =>
  JSON.stringify({
    amount: 1_000 + (n % 9_000),
    currency: 'BRL',
    payment_method: 'pix',
    description: `Pedido ${n}`,
    customer: { name: 'Maria da Silva', document: '52998224725', email: 'maria@example.com' },
    metadata: { order_id: `order-${n}`, channel: 'web' },
  });

class Load {
  readonly #order: LoadOrder;
  readonly #heads: readonly string[];
  readonly #latencies: number[] = [];
  readonly #idle: Line[] = [];
  /** Due times of requests that found no free connection. */
  readonly #overdue: number[] = [];
  #sent = 0;
  #refused = 0;
  #firstRefusal: string | null = null;
  #over = false;
  #open = 0;
  #drained: () => void = () => undefined;

  constructor(order: LoadOrder) {
    this.#order = order;
    this.#heads = order.apiKeys.map(
      (apiKey) =>
        `POST /v1/charges HTTP/1.1\r\nHost: 127.0.0.1:${order.port}\r\nContent-Type: application/json\r\napikey: ${apiKey}\r\n`,
    );
  }

  async run(): Promise<LoadResult> {
    const { connections, durationMs, perSecond } = this.#order;
    const lines = await Promise.all(Array.from({ length: connections }, () => this.#connect()));
    this.#idle.push(...lines);
    const beganAt = performance.now();
    const drained = new Promise<void>((resolve) => {
      this.#drained = resolve;
    });
    if (perSecond === null) for (const line of this.#idle.splice(0)) this.#ask(line, performance.now());
    const stopPacing = perSecond === null ? () => undefined : this.#pace(beganAt, perSecond);
    setTimeout(() => {
      stopPacing();
      this.#over = true;
      if (this.#open === 0) this.#drained();
    }, durationMs);
    await drained;
    const seconds = (performance.now() - beganAt) / 1_000;
    for (const line of lines) line.socket.destroy();
    const answered = this.#latencies.length;
    return {
      answered,
      refused: this.#refused,
      firstRefusal: this.#firstRefusal,
      seconds,
      latenciesMs: this.#latencies,
    };
  }

  /** Sends all requests that are due, every millisecond. */
  #pace(beganAt: number, perSecond: number): () => void {
    let due = 0;
    const timer = setInterval(() => {
      const untilNow = Math.floor(((performance.now() - beganAt) * perSecond) / 1_000) + 1;
      for (; due < untilNow; due++) {
        const dueAt = beganAt + (due * 1_000) / perSecond;
        const line = this.#idle.pop();
        if (line) this.#ask(line, dueAt);
        else this.#overdue.push(dueAt);
      }
    }, 1);
    return () => clearInterval(timer);
  }

  #connect(): Promise<Line> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port: this.#order.port, noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () =>
        resolve(new Line(socket, (line, status, answer) => this.#answered(line, status, answer))),
      );
    });
  }

  #ask(line: Line, dueAt: number): void {
    const n = this.#sent++;
    this.#open++;
    const body = bodyOf(n);
    line.dueAt = dueAt;
    line.socket.write(
      `${this.#heads[n % this.#heads.length]}Idempotency-Key: ${this.#order.name}-${n}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  }

  #answered(line: Line, status: number, answer: string): void {
    const now = performance.now();
    this.#open--;
    if (status === 201) this.#latencies.push(now - line.dueAt);
    else {
      this.#refused++;
      this.#firstRefusal ??= answer.slice(0, 500);
    }
    const next = this.#overdue.shift();
    if (next !== undefined) this.#ask(line, next);
    else if (this.#order.perSecond === null && !this.#over) this.#ask(line, now);
    else this.#idle.push(line);
    if (this.#over && this.#open === 0) this.#drained();
  }
}

/** A kept-alive connection with at most one request in progress. */
class Line {
  readonly socket: Socket;
  dueAt = 0;
  #text = '';

  constructor(socket: Socket, onAnswer: (line: Line, status: number, answer: string) => void) {
    this.socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      this.#text += chunk;
      const headEnd = this.#text.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const length = /\r\ncontent-length: (\d+)/i.exec(this.#text.slice(0, headEnd + 2))?.[1];
      if (length === undefined) throw new Error(`an answer without a length: ${this.#text.slice(0, headEnd)}`);
      if (this.#text.length < headEnd + 4 + Number(length)) return;
      const answer = this.#text;
      this.#text = '';
      onAnswer(this, Number(answer.slice(9, 12)), answer);
    });
  }
}

process.on('message', (order: LoadOrder) => {
  void new Load(order).run().then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit(0));
