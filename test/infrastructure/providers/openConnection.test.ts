// What an adapter receives when a connection is opened.
import { expect } from 'chai';
import type { ConnectionVault } from '../../../application/ports/connectionWork.ts';
import type { ConnectionId } from '../../../domain/kernel/ids.ts';
import type { ConnectionTerms } from '../../../domain/providerConnection/connection.ts';
import { connectionOpener } from '../../../infrastructure/providers/openConnection.ts';
import { UnknownSecretsKey } from '../../../infrastructure/secrets/keyring.ts';
import { at } from '../../support/samples.ts';
import { connectionTerms } from '../../world/fakeConnections.ts';

describe('opening a provider connection', () => {
  const find: ConnectionVault['find'] = async (_, kind) => kind;
  const opened = async (allowPrivate: boolean, isProduction: boolean, vault = { find }): Promise<boolean> => {
    const given: ConnectionTerms[] = [];
    const unused = null as never;
    const open = connectionOpener({
      ...{ operations: unused, clock: unused, stopwatch: unused, log: unused, isProduction, vault },
      openAdapter: (terms) => {
        given.push(terms);
        return unused;
      },
    });
    await open({
      ...{ status: 'enabled', terms: connectionTerms('0'.repeat(26) as ConnectionId, { allowPrivate }) },
      ...{ clientSecretVersion: 1, privateKeyVersion: 1, callbackSecretVersion: 1, previousCallback: null },
      ...{ addedAt: at('12:00:00'), changedAt: at('12:00:00') },
    });
    expect(given).to.have.length(1);
    return given[0]!.allowPrivate;
  };

  it('allows private addresses only outside production, even if an earlier entry allowed them', async () => {
    const all = [await opened(true, false), await opened(false, false), await opened(true, true)];
    expect(all).to.deep.equal([true, false, false]);
  });

  it('names all secrets that are missing, and the key of one that can’t be read', async () => {
    const reasonOf = (vault: Pick<ConnectionVault, 'find'>) =>
      opened(false, false, vault).catch((error: Error) => [error.name, error.message]);
    expect(await reasonOf({ find: async (_, kind) => (kind === 'client' ? kind : null) })).to.deep.equal([
      'ConnectionUnopened',
      'The connection has no stored private key, callback secret: provider set --certificate --private-key, provider rotate-callback-secret.',
    ]);
    const sealed = async () => {
      throw new UnknownSecretsKey('sealed with the secrets key k1, which this process does not have');
    };
    expect(await reasonOf({ find: sealed })).to.deep.equal([
      'ConnectionUnopened',
      'The client secret is sealed with the secrets key k1, which this process does not have.',
    ]);
  });
});
