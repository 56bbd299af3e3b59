// Payouts under kill -9 of the whole process group: each request is granted once, and no money is lost or paid twice.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { KillableGateway } from '../world/killableGateway.ts';

const KILLS = 3;
const CLIENTS = 8;
const PAYOUTS_PER_ROUND = 12;
const GIVE_UP_MS = 240_000;
const BODY = { amount: 100, destination: { pix_key: 'ana@example.com' } };

interface Payout {
  readonly id: string;
  readonly status: string;
  readonly end_to_end_id: string | null;
}

describe('payouts under kill -9', () => {
  let gateway: KillableGateway;
  const answers = new Map<string, string>();
  let others: string[] = [];
  let earned = 0;
  before(async function run() {
    this.timeout(600_000);
    gateway = await KillableGateway.open(GIVE_UP_MS);
    const charge = await gateway.insist(
      'POST',
      '/v1/charges',
      { amount: 1_000_000, payment_method: 'pix' },
      'earn-0001',
    );
    const { id } = JSON.parse(charge.text) as { id: string };
    await gateway.insist('POST', `/v1/sandbox/charges/${id}/pay`, {});
    earned = await available();
    let isOver = false;
    let reached: () => void = () => undefined;
    let wanted = PAYOUTS_PER_ROUND;
    const client = async () => {
      while (!isOver) {
        const key = `kill-${randomBytes(9).toString('hex')}`;
        const { status, text } = await gateway.insist('POST', '/v1/payouts', BODY, key);
        if (status !== 201) throw new Error(`a payout was refused: ${status} ${text}`);
        answers.set(key, text);
        if (answers.size >= wanted) reached();
      }
    };
    const clients = Promise.all(Array.from({ length: CLIENTS }, client));
    for (let kill = 0; kill < KILLS; kill++) {
      await Promise.race([new Promise<void>((resolve) => (reached = resolve)), clients]);
      wanted = answers.size + PAYOUTS_PER_ROUND;
      await gateway.killAndRestart();
    }
    isOver = true;
    await clients;
    const replays = await Promise.all(
      [...answers].map(async ([key, text]) => [(await gateway.insist('POST', '/v1/payouts', BODY, key)).text, text]),
    );
    others = replays.flatMap(([again, first]) => (again === first ? [] : [again as string]));
  });
  after(() => gateway.close());

  const available = async (): Promise<number> =>
    (JSON.parse((await gateway.insist('GET', '/v1/wallets/balance')).text) as { available: number }).available;
  const payouts = async (): Promise<readonly Payout[]> => {
    const all: Payout[] = [];
    for (let after = ''; ; ) {
      const { text } = await gateway.insist('GET', `/v1/payouts?limit=100${after}`);
      const { data, next_cursor } = JSON.parse(text) as { data: Payout[]; next_cursor: string | null };
      all.push(...data);
      if (next_cursor === null) return all;
      after = `&starting_after=${next_cursor}`;
    }
  };

  it('replay the original answer for every repeated request', () => expect(others).to.deep.equal([]));
  it('are each paid once', async function paid() {
    this.timeout(240_000);
    let all = await payouts();
    while (all.some(({ status }) => status !== 'paid')) all = await payouts();
    const ids = [...answers.values()].map((text) => (JSON.parse(text) as Payout).id);
    expect(new Set(all.map(({ id }) => id))).to.deep.equal(new Set(ids));
    expect(new Set(all.map((one) => one.end_to_end_id)).size).to.equal(ids.length);
    expect(await available()).to.equal(earned - ids.length * 150);
  });
  it('leave a ledger that sums to zero, and read models equal to the replay', async () => {
    const ledger = (await gateway.cli(['ledger', 'check'])) as { sums: readonly { sum: number }[] };
    expect(ledger.sums.map(({ sum }) => sum)).to.deep.equal([0]);
    const verified = (await gateway.cli(['projections', 'verify'])) as { differences: readonly unknown[] };
    expect(verified.differences).to.deep.equal([]);
  });
});
