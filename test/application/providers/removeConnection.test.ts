// A refund that is requested while `provider remove` runs must not wait for a removed connection (rule V5).
import { expect } from 'chai';
import {
  type ManageConnectionsNeeds,
  removeProviderConnection,
} from '../../../application/providers/manageConnections.ts';
import type { ConnectionId } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { PROVIDER_CONNECTION } from '../../../domain/providerConnection/aggregate.ts';
import { addConnection, switchConnection } from '../../../domain/providerConnection/decisions.ts';
import { type Core, newId, openCore, why } from '../../support/core.ts';
import { at } from '../../support/samples.ts';
import { connectionTerms } from '../../world/fakeConnections.ts';

const BY = { actor: 'operator:ana', requestId: null };

describe('removing a provider connection, on Postgres', () => {
  let core: Core;
  before(async () => {
    core = await openCore();
  });
  after(() => core.close());

  const drained = async () => {
    const id = newId<ConnectionId>();
    const stream = PROVIDER_CONNECTION.stream(id);
    const versions = { clientSecretVersion: 1, privateKeyVersion: 0, callbackSecretVersion: 1 };
    const metadata = why('a' as never);
    await core.commands.execute(
      PROVIDER_CONNECTION,
      stream,
      addConnection(connectionTerms(id), versions, at('12:00:00')),
      metadata,
    );
    await core.commands.execute(PROVIDER_CONNECTION, stream, switchConnection('draining', at('12:10:00')), metadata);
    const work = { payments: 0, payouts: 0, callbacks: 0 };
    const forgotten: ConnectionId[] = [];
    const paused = { meanwhile: async (): Promise<void> => undefined };
    const { commands, accounts, store } = core;
    const known = { get: () => ({ position: '\uffff' }) };
    const needs = {
      ...{ commands, accounts, store, consumers: { standings: async () => known } },
      stopwatch: { elapsedMs: () => 0, pause: () => paused.meanwhile() },
      connections: { openWork: async () => new Map([[id, { ...work }]]), unhandled: async () => work.callbacks },
      connectionVault: {
        forget: async (of: ConnectionId) => void forgotten.push(of),
        stored: async () => (forgotten.length === 0 ? [{ kind: 'client', version: 1 }] : []),
      },
    } as unknown as ManageConnectionsNeeds;
    const remove = async () => {
      const done = await removeProviderConnection(needs)(id, BY);
      return isRejection(done) ? done.code : done;
    };
    const status = async () => (await commands.load(PROVIDER_CONNECTION, stream)).state.status;
    return { remove, status, work, forgotten, paused, id };
  };

  for (const [what, kind] of [
    ['a refund is requested', 'payments'],
    ['a callback is stored', 'callbacks'],
  ] as const)
    it(`keeps the connection and its secrets if ${what} after the count`, async () => {
      const { remove, status, work, forgotten, paused, id } = await drained();
      let during = '';
      paused.meanwhile = async () => {
        work[kind] = 1;
        during = await status();
      };
      expect([await remove(), await status(), forgotten]).to.deep.equal(['connection_in_use', 'draining', []]);
      expect(during).to.equal('removed');
      paused.meanwhile = async () => undefined;
      expect(await remove()).to.equal('connection_in_use');
      work[kind] = 0;
      expect([await remove(), await status(), forgotten]).to.deep.equal(['removed', 'removed', [id]]);
    });
  it('never restores a connection whose secrets are gone', async () => {
    const { remove, status, work, forgotten, id } = await drained();
    expect(await remove()).to.equal('removed');
    work.payments = 1;
    expect([await remove(), await status(), forgotten]).to.deep.equal(['removed', 'removed', [id]]);
  });
  it('completes an interrupted removal when repeated, or restores the connection if it is in use', async () => {
    for (const payments of [0, 1]) {
      const { remove, status, work, forgotten, paused, id } = await drained();
      paused.meanwhile = async () => {
        throw new Error('killed');
      };
      expect(await remove().catch((error: Error) => error.message)).to.equal('killed');
      expect([await status(), forgotten]).to.deep.equal(['removed', []]);
      paused.meanwhile = async () => undefined;
      work.payments = payments;
      expect([await remove(), await status(), forgotten]).to.deep.equal(
        payments === 0 ? ['removed', 'removed', [id]] : ['connection_in_use', 'draining', []],
      );
    }
  });
});
