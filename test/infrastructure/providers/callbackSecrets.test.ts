// The secrets in callback URLs that a connection accepts, and until when (rules V1, V2).
import { expect } from 'chai';
import type { ConnectionId } from '../../../domain/kernel/ids.ts';
import { toMillis } from '../../../domain/kernel/time.ts';
import type { Connection } from '../../../domain/providerConnection/aggregate.ts';
import { callbackSecrets } from '../../../infrastructure/providers/callbackSecrets.ts';
import { at } from '../../support/samples.ts';
import { connectionTerms } from '../../world/fakeConnections.ts';

const ID = '0'.repeat(26) as ConnectionId;
const UNTIL = at('12:00:00');

describe('accepted secrets of callbacks', () => {
  let now = toMillis(UNTIL) - 1;
  let connection: Connection | null;
  beforeEach(() => {
    now = toMillis(UNTIL) - 1;
    connection = {
      ...{ status: 'enabled', terms: connectionTerms(ID) },
      ...{ clientSecretVersion: 1, privateKeyVersion: 0, callbackSecretVersion: 3 },
      ...{ previousCallback: { version: 2, until: UNTIL }, addedAt: UNTIL, changedAt: UNTIL },
    };
  });
  const secrets = callbackSecrets(
    { find: async () => connection },
    { find: async (_, kind, version) => `${kind} ${version}` },
    { now: () => now },
  );
  const accepted = async (): Promise<readonly number[]> => {
    const answers = await Promise.all([1, 2, 3, 4].map((n) => secrets.accepts(ID, `callback ${n}`)));
    return answers.flatMap((isAccepted, i) => (isAccepted ? [i + 1] : []));
  };

  it('are the current one, and the previous one until it expires', async () => {
    expect(await accepted()).to.deep.equal([2, 3]);
    now += 1;
    expect(await accepted()).to.deep.equal([3]);
  });
  it('follow a rotation, and end with the connection', async () => {
    expect(await accepted()).to.deep.equal([2, 3]);
    connection = {
      ...(connection as Connection),
      ...{ callbackSecretVersion: 4, previousCallback: { version: 3, until: UNTIL } },
    };
    expect(await accepted()).to.deep.equal([3, 4]);
    connection = null;
    expect(await accepted()).to.deep.equal([]);
  });
});
