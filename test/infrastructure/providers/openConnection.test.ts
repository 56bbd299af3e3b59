// What an adapter receives when a connection is opened.
import { expect } from 'chai';
import type { ConnectionId } from '../../../domain/kernel/ids.ts';
import type { ConnectionTerms } from '../../../domain/providerConnection/connection.ts';
import { connectionOpener } from '../../../infrastructure/providers/openConnection.ts';
import { at } from '../../support/samples.ts';
import { connectionTerms } from '../../world/fakeConnections.ts';

describe('opening a provider connection', () => {
  const opened = async (allowPrivate: boolean, isProduction: boolean): Promise<boolean> => {
    const given: ConnectionTerms[] = [];
    const unused = null as never;
    const open = connectionOpener({
      ...{ operations: unused, clock: unused, stopwatch: unused, log: unused, isProduction },
      vault: { find: async (_, kind) => kind },
      openAdapter: (terms) => {
        given.push(terms);
        return unused;
      },
    });
    await open({
      ...{ status: 'enabled', terms: connectionTerms('0'.repeat(26) as ConnectionId, { allowPrivate }) },
      ...{ clientSecretVersion: 1, privateKeyVersion: 0, callbackSecretVersion: 1, previousCallback: null },
      ...{ addedAt: at('12:00:00'), changedAt: at('12:00:00') },
    });
    expect(given).to.have.length(1);
    return given[0]!.allowPrivate;
  };

  it('allows private addresses only outside production, even if an earlier entry allowed them', async () => {
    const all = [await opened(true, false), await opened(false, false), await opened(true, true)];
    expect(all).to.deep.equal([true, false, false]);
  });
});
