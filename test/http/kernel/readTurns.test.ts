// Reads of one account take turns (http/kernel/app.ts).
import { expect } from 'chai';
import { KeyedTurns } from '../../../application/ports/keyedTurns.ts';
import { READS_AT_ONCE } from '../../../http/kernel/app.ts';
import { OPERATIONS } from '../../../http/kernel/health.ts';
import { route } from '../../../http/kernel/route.ts';
import type { TestGateway } from '../../world/gateway.ts';
import { openReady } from '../../world/http.ts';

/** A read that begins when it has its turn, and ends when `end` is called. */
class Reads {
  readonly begun: string[] = [];
  readonly #ends: (() => void)[] = [];
  #onBegin = (): void => undefined;

  async read(name: string): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ends.push(resolve);
    this.begun.push(name);
    this.#onBegin();
    await promise;
    return name;
  }
  /** Resolves when `count` reads have begun since the start. */
  until(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#onBegin = () => this.begun.length >= count && resolve();
      this.#onBegin();
    });
  }
  endFirst(): void {
    this.#ends.shift()?.();
  }
}

describe('turns of reads', () => {
  it('begin in the order of arrival, two at once for each account', async () => {
    expect(READS_AT_ONCE).to.equal(2);
    const [turns, reads] = [new KeyedTurns(READS_AT_ONCE), new Reads()];
    const all = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) => turns.run(name[0] as string, () => reads.read(name)));
    expect(reads.begun).to.deep.equal(['a1', 'a2', 'b1']);
    reads.endFirst();
    await reads.until(4);
    expect(reads.begun).to.deep.equal(['a1', 'a2', 'b1', 'a3']);
    for (let n = 0; n < 4; n++) reads.endFirst();
    await reads.until(5);
    reads.endFirst();
    expect(await Promise.all(all)).to.deep.equal(['a1', 'a2', 'a3', 'a4', 'b1']);
  });
  it('pass to the next read after one that fails', async () => {
    const turns = new KeyedTurns(READS_AT_ONCE);
    const all = Array.from({ length: 5 }, (_, n) =>
      turns.run('a', async () => {
        if (n < 3) throw new Error(`read ${n}`);
        return n;
      }),
    );
    const ends = await Promise.all(all.map((one) => one.catch(({ message }: Error) => message)));
    expect(ends).to.deep.equal(['read 0', 'read 1', 'read 2', 3, 4]);
  });
});

describe('reads of a gateway', () => {
  const reads = new Reads();
  const SLOW = route('GET', '/v1/slow', {
    operationId: 'slow',
    summary: 'A slow read',
    tag: OPERATIONS,
    principal: 'apiKey',
    reads: ['payments'],
    responses: { 204: { kind: 'empty', description: 'Read.' } },
    errors: [],
    handle: async ({ caller }) => {
      await reads.read(caller.tenant.accountId);
      return { status: 204 };
    },
  });
  let gateway: TestGateway;
  before(async () => {
    gateway = await openReady({ moreRoutes: [SLOW] });
  });
  after(() => gateway.close());

  it('of one account leave connections to another account, and commands of the account don’t wait', async () => {
    const other = await gateway.newTenant();
    const slow = Array.from({ length: 6 }, () => gateway.get('/v1/slow'));
    await reads.until(2);
    expect((await gateway.get('/v1/payments', { key: other.testKey })).status).to.equal(200);
    expect((await gateway.charge()).status).to.equal(201);
    const own = gateway.get('/v1/payments');
    for (let n = 0; n < 6; n++) {
      reads.endFirst();
      await reads.until(Math.min(n + 3, 6));
      expect(reads.begun).to.have.length(Math.min(n + 3, 6));
    }
    expect((await Promise.all(slow)).map(({ status }) => status)).to.deep.equal(Array(6).fill(204));
    expect((await own).status).to.equal(200);
  });
});
