// 40 clients create and pay charges while the whole process group is killed repeatedly with SIGKILL. The caller checks the returned
// report.
import { randomBytes } from 'node:crypto';
import { add, toMinor } from '../../domain/kernel/money.ts';
import { fromMillis } from '../../domain/kernel/time.ts';
import { makeEndToEndId } from '../../domain/pix/ids.ts';
import { chargeFees, DEFAULT_FEES } from '../../domain/transaction/fees.ts';
import { KillableGateway } from '../world/killableGateway.ts';
import { Receiver, typeOf } from '../world/receiver.ts';

const CLIENTS = 40;
/** Time limit per round, below the timeout of its test, so that nothing continues into later tests. */
const GIVE_UP_MS = 60_000;

interface Acknowledged {
  readonly key: string;
  readonly amount: number;
  readonly text: string;
  readonly id: string;
  readonly endToEndId: string;
}

export interface KillReport {
  readonly charges: number;
  readonly kills: number;
  /** Responses to repeated requests that differ from the first response. */
  readonly otherReplays: readonly string[];
  /** Acknowledged charges that were not paid by their own Pix. */
  readonly unpaid: readonly string[];
  /** Missing events `charge.created` and `charge.paid`. */
  readonly undelivered: readonly string[];
  readonly wallet: { readonly available: number; readonly expected: number };
  readonly verify: { readonly differences: readonly unknown[] };
  readonly ledger: { readonly sums: readonly { readonly sum: number }[] };
}

export const killRounds = async (
  kills: number,
  chargesPerRound: number,
  env: Readonly<Record<string, string>> = {},
): Promise<KillReport> => {
  const receiver = await Receiver.open();
  const gateway = await KillableGateway.open(GIVE_UP_MS * (kills + 2), env);
  try {
    const endpoint = { url: receiver.url, events: ['charge.created', 'charge.paid'] };
    await gateway.insist('POST', '/v1/webhooks/endpoints', endpoint);
    const acknowledged: Acknowledged[] = [];
    let wanted = chargesPerRound;
    let reached: () => void = () => undefined;
    let isOver = false;
    const client = async () => {
      while (!isOver) {
        const key = `kill-${randomBytes(9).toString('hex')}`;
        const amount = 1_000 + Math.floor(Math.random() * 9_000);
        const created = await gateway.insist('POST', '/v1/charges', { amount, payment_method: 'pix' }, key);
        if (created.status !== 201) throw new Error(`a charge was refused: ${created.status} ${created.text}`);
        const { id } = JSON.parse(created.text) as { id: string };
        const endToEndId = makeEndToEndId({
          ispb: '99999004',
          at: fromMillis(Date.now()),
          suffix: randomBytes(6).toString('hex').slice(0, 11),
        });
        const paid = await gateway.insist('POST', `/v1/sandbox/charges/${id}/pay`, { end_to_end_id: endToEndId });
        if (paid.status > 202) throw new Error(`a payment was refused: ${paid.status} ${paid.text}`);
        acknowledged.push({ key, amount, text: created.text, id, endToEndId });
        if (acknowledged.length >= wanted) reached();
      }
    };
    const clients = Array.from({ length: CLIENTS }, client);
    for (let n = 0; n <= kills; n++) {
      const enough = new Promise<void>((resolve) => {
        reached = resolve;
      });
      wanted = acknowledged.length + chargesPerRound;
      await Promise.race([enough, Promise.all(clients)]);
      if (n < kills) await gateway.killAndRestart();
    }
    isOver = true;
    await Promise.all(clients);
    return await report({ acknowledged, receiver, gateway, kills });
  } finally {
    await gateway.close();
    await receiver.close();
  }
};

const report = async (world: {
  acknowledged: readonly Acknowledged[];
  receiver: Receiver;
  gateway: KillableGateway;
  kills: number;
}): Promise<KillReport> => {
  const { acknowledged, receiver, gateway, kills } = world;
  const otherReplays: string[] = [];
  const unpaid: string[] = [];
  for (const { key, amount, text, id, endToEndId } of acknowledged) {
    const again = await gateway.insist('POST', '/v1/charges', { amount, payment_method: 'pix' }, key);
    if (again.text !== text || !again.replayed || again.status !== 201) otherReplays.push(`${id}: ${again.text}`);
    const read = JSON.parse((await gateway.insist('GET', `/v1/charges/${id}`)).text) as {
      status: string;
      settlement: { end_to_end_id?: string };
    };
    if (read.status !== 'paid' || read.settlement.end_to_end_id !== endToEndId)
      unpaid.push(`${id}: ${JSON.stringify(read)}`);
  }
  await gateway.flushDeliveries();
  const got = new Set(
    receiver.got.map((hit) => `${typeOf(hit)} ${(hit.body['data'] as { object: { id: string } }).object.id}`),
  );
  const undelivered = acknowledged
    .flatMap(({ id }) => ['charge.created', 'charge.paid'].map((type) => `${type} ${id}`))
    .filter((name) => !got.has(name));
  const expected = acknowledged.reduce(
    (sum, { amount }) => add(sum, chargeFees(toMinor(amount), DEFAULT_FEES.PIX).netAmount),
    toMinor(0),
  );
  const { available } = JSON.parse((await gateway.insist('GET', '/v1/wallets/balance')).text) as { available: number };
  return {
    charges: acknowledged.length,
    kills,
    otherReplays,
    unpaid,
    undelivered,
    wallet: { available, expected },
    verify: (await gateway.cli(['projections', 'verify'])) as KillReport['verify'],
    ledger: (await gateway.cli(['ledger', 'check'])) as KillReport['ledger'],
  };
};
