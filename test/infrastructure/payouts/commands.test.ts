// `payout approve` and `payout reject` pass on the operator's verdict and reason (rule Y5).
import { expect } from 'chai';
import { reject } from '../../../domain/kernel/rejection.ts';
import type { CliWorld } from '../../../infrastructure/cli/command.ts';
import { payoutCommands } from '../../../infrastructure/payouts/commands.ts';

const PAYOUT_ID = '0'.repeat(26);

describe('payout', () => {
  let reviews: unknown[];
  const world = {
    operator: 'operator:ana',
    platform: {
      reviewPayoutOfAny: async (...given: unknown[]) => {
        reviews.push(given);
        return reject('payout_not_awaiting_approval', 'The payout does not await approval.');
      },
    },
  } as unknown as CliWorld;
  const run = async (name: string, options: Record<string, string> = {}): Promise<string> => {
    const command = payoutCommands.find((one) => one.name === name) as (typeof payoutCommands)[number];
    return Promise.resolve()
      .then(() => command.run(world, { args: [`po_${PAYOUT_ID}`], options, isJson: true }, {} as never))
      .then(
        () => 'done',
        ({ message }: Error) => message,
      );
  };
  beforeEach(() => {
    reviews = [];
  });

  it('approve and reject name the operator and the payout, and print a rejection', async () => {
    const by = { actor: 'operator:ana', requestId: null, userId: null };
    for (const name of ['payout approve', 'payout reject'])
      expect(await run(name)).to.equal('The payout does not await approval.');
    expect(reviews).to.deep.equal([
      [PAYOUT_ID, { verdict: 'approved' }, by],
      [PAYOUT_ID, { verdict: 'rejected', reason: null }, by],
    ]);
  });

  it('reject accepts a reason of 1 to 500 characters, without spaces around it', async () => {
    const said = '--reason must have 1 to 500 characters';
    for (const reason of ['', ' ', 'x'.repeat(501)]) expect(await run('payout reject', { reason })).to.equal(said);
    expect(reviews).to.deep.equal([]);
    for (const reason of [' x ', 'x'.repeat(500)]) await run('payout reject', { reason });
    expect(reviews.map((given) => (given as { reason: string }[])[1]?.reason)).to.deep.equal(['x', 'x'.repeat(500)]);
  });
});
