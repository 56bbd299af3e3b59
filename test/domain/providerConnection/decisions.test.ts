import { expect } from 'chai';
import type { ConnectionId } from '../../../domain/kernel/ids.ts';
import {
  PROVIDER_CONNECTION,
  type ProviderConnectionEvent,
  providerConnection,
} from '../../../domain/providerConnection/aggregate.ts';
import type { ConnectionSettings } from '../../../domain/providerConnection/connection.ts';
import {
  addConnection,
  changeConnection,
  changedFields,
  removeConnection,
  restoreConnection,
  rotateCallbackSecret,
  rotateClientSecret,
  switchConnection,
} from '../../../domain/providerConnection/decisions.ts';
import { settingProblem } from '../../../domain/providerConnection/settingProblems.ts';
import { given } from '../../support/given.ts';
import { at } from '../../support/samples.ts';
import { connectionTerms } from '../../world/fakeConnections.ts';

const terms = connectionTerms('00000000000000000000000003' as ConnectionId);
const versions = { clientSecretVersion: 1, privateKeyVersion: 0, callbackSecretVersion: 1 };
const added: ProviderConnectionEvent = {
  type: 'ProviderConnectionAdded',
  data: { ...terms, ...versions, at: at('12:00:00') },
};
const drained: ProviderConnectionEvent = { type: 'ProviderConnectionDrained', data: { at: at('12:10:00') } };
const disabled: ProviderConnectionEvent = { type: 'ProviderConnectionDisabled', data: { at: at('12:10:00') } };
const removed: ProviderConnectionEvent = { type: 'ProviderConnectionRemoved', data: { at: at('13:00:00') } };
const { connectionId: _, kind: _kind, preset: _preset, ...settings } = terms;

describe('addConnection', () => {
  it('adds an enabled connection, once', () => {
    const { state } = given(providerConnection)
      .when(addConnection(terms, versions, at('12:00:00')))
      .then(added, 'added')
      .again('added')
      .and();
    expect(state).to.deep.equal({
      ...{ status: 'enabled', terms, ...versions, previousCallback: null },
      ...{ addedAt: at('12:00:00'), changedAt: at('12:00:00') },
    });
  });
  it('again with other content keeps what was added, also after its removal', () => {
    const other = { ...terms, name: 'Outro' };
    const decide = addConnection(other, versions, at('14:00:00'));
    given(providerConnection, added).when(decide).then('added');
    given(providerConnection, added, removed).when(decide).then('added');
  });
});

describe('changeConnection', () => {
  const change = { name: 'Outro', ca: 'PEM' };
  const changed: ProviderConnectionEvent = {
    type: 'ProviderConnectionChanged',
    data: { ...settings, ...change, privateKeyVersion: 0, at: at('12:30:00') },
  };
  it('stores all settings, once', () => {
    const { state } = given(providerConnection, added)
      .when(changeConnection(change, null, at('12:30:00')))
      .then(changed, 'changed')
      .again('changed')
      .and();
    expect(state).to.deep.include({ status: 'enabled', terms: { ...terms, ...change }, changedAt: at('12:30:00') });
  });
  it('a former Pix key is remembered, until it is the present one again', () => {
    const keys = ['b@b.example', 'c@b.example', 'b@b.example', terms.pixKey];
    const former = keys.map((_, n) => {
      const events = keys.slice(0, n + 1).map(
        (pixKey): ProviderConnectionEvent => ({
          type: 'ProviderConnectionChanged',
          data: { ...settings, pixKey, privateKeyVersion: 0, at: at('12:30:00') },
        }),
      );
      const { state } = given(providerConnection, added, ...events);
      return state.status === 'absent' ? null : state.formerKeys;
    });
    const [a, b, c] = [terms.pixKey, 'b@b.example', 'c@b.example'];
    expect(former).to.deep.equal([[a], [a, b], [a, c], [c, b]]);
  });
  it('a new private key is a change', () => {
    given(providerConnection, added)
      .when(changeConnection({}, 2, at('12:30:00')))
      .then(
        {
          type: 'ProviderConnectionChanged',
          data: { ...settings, privateKeyVersion: 2, at: at('12:30:00') },
        },
        'changed',
      )
      .again('changed');
  });
  it('is nothing if nothing differs', () => {
    given(providerConnection, added)
      .when(changeConnection({ name: terms.name, methods: ['PIX'] }, 0, at('12:30:00')))
      .then('changed');
    expect(changedFields(terms, { name: terms.name, methods: ['PIX'], order: 7 })).to.deep.equal(['order']);
  });
});

describe('switchConnection', () => {
  const EVENTS = {
    enabled: 'ProviderConnectionEnabled',
    draining: 'ProviderConnectionDrained',
    disabled: 'ProviderConnectionDisabled',
  } as const;
  for (const [to, type] of Object.entries(EVENTS) as [keyof typeof EVENTS, (typeof EVENTS)[keyof typeof EVENTS]][])
    it(`to ${to}, from any other status, once`, () => {
      const from = to === 'enabled' ? [added, disabled] : [added];
      const { state } = given(providerConnection, ...from)
        .when(switchConnection(to, at('12:30:00')))
        .then({ type, data: { at: at('12:30:00') } }, 'switched')
        .again('switched')
        .and();
      expect(state.status).to.equal(to);
    });
});

describe('removeConnection', () => {
  for (const before of [[added], [added, drained], [added, disabled]])
    it(`removes it, once, after ${before.at(-1)?.type}`, () => {
      const { state } = given(providerConnection, ...before)
        .when(removeConnection(0, at('13:00:00')))
        .then(removed, 'removed')
        .again('removed')
        .and();
      expect(state.status).to.equal('removed');
    });
  it('refuses while something is not final', () => {
    given(providerConnection, added)
      .when(removeConnection(1, at('13:00:00')))
      .rejected('connection_in_use');
  });
  it('a removed one stays removed, whatever is open', () => {
    given(providerConnection, added, removed)
      .when(removeConnection(1, at('13:30:00')))
      .then('removed');
  });
});

describe('rotations of secrets', () => {
  it('a client secret has a version only', () => {
    const { state } = given(providerConnection, added)
      .when(rotateClientSecret(2, at('12:30:00')))
      .then(
        { type: 'ProviderConnectionClientSecretRotated', data: { clientSecretVersion: 2, at: at('12:30:00') } },
        'rotated',
      )
      .again('rotated')
      .and();
    given(providerConnection, added)
      .when(rotateClientSecret(0, at('12:31:00')))
      .then('taken');
    expect(state).to.deep.include({ clientSecretVersion: 2, callbackSecretVersion: 1, previousCallback: null });
  });
  it('the callback secret before stays valid for 24 hours, or until the next rotation', () => {
    const until = '2026-11-22T12:30:00.000Z';
    const first = given(providerConnection, added)
      .when(rotateCallbackSecret(3, at('12:30:00')))
      .then(
        {
          type: 'ProviderConnectionCallbackSecretRotated',
          data: { callbackSecretVersion: 3, previousUntil: until as never, at: at('12:30:00') },
        },
        'rotated',
      )
      .again('rotated')
      .and();
    expect(first.state).to.deep.include({ callbackSecretVersion: 3, previousCallback: { version: 1, until } });
    first.when(rotateCallbackSecret(2, at('12:31:00'))).then('taken');
    const { state } = first
      .when(rotateCallbackSecret(4, at('12:30:00')))
      .then(
        {
          type: 'ProviderConnectionCallbackSecretRotated',
          data: { callbackSecretVersion: 4, previousUntil: until as never, at: at('12:30:00') },
        },
        'rotated',
      )
      .and();
    expect(state).to.deep.include({ callbackSecretVersion: 4, previousCallback: { version: 3, until } });
  });
});

describe('a connection that is missing or removed', () => {
  const DECISIONS = {
    change: changeConnection({ name: 'Outro' }, null, at('14:00:00')),
    switch: switchConnection('enabled', at('14:00:00')),
    'rotate the client secret': rotateClientSecret(2, at('14:00:00')),
    'rotate the callback secret': rotateCallbackSecret(2, at('14:00:00')),
  };
  for (const [what, decide] of Object.entries(DECISIONS))
    it(`is not found: ${what}`, () => {
      given(providerConnection).when(decide).rejected('not_found');
      given(providerConnection, added, removed).when(decide).rejected('not_found');
    });
  it('is not found: remove a missing one, even before what is open', () => {
    given(providerConnection)
      .when(removeConnection(1, at('14:00:00')))
      .rejected('not_found');
  });
});

describe('the settings of a connection', () => {
  const WRONG: readonly (readonly [Partial<ConnectionSettings>, string])[] = [
    [{ name: ' ' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ clientId: '' }, 'clientId'],
    [{ clientId: 'um dois' }, 'clientId'],
    [{ pixKey: '12345678900' }, 'pixKey'],
    [{ methods: [] }, 'methods'],
    [{ methods: ['BOLETO'] }, 'methods'],
    [{ order: -1 }, 'order'],
    [{ order: 0.5 }, 'order'],
    [{ order: 1_000_001 }, 'order'],
    // The first problem counts.
    [{ order: -1, name: '' }, 'name'],
  ];
  for (const [wrong, param] of WRONG)
    it(`${JSON.stringify(wrong).slice(0, 40)} is wrong`, () => {
      expect(settingProblem({ ...settings, ...wrong })?.param).to.equal(param);
    });
  it('a right one has no problem, and no event names a secret', () => {
    expect(settingProblem(settings)).to.equal(null);
    const names = PROVIDER_CONNECTION.serde.types.flatMap((type) => Object.keys(type));
    expect(names.filter((name) => /secret$/i.test(name))).to.deep.equal([]);
  });
});

describe('restoreConnection', () => {
  const decide = restoreConnection(at('13:00:02'));
  it('drains a removed connection again, once; another removal may follow', () => {
    const { state } = given(providerConnection, added, removed)
      .when(decide)
      .then({ type: 'ProviderConnectionRestored', data: { at: at('13:00:02') } }, 'restored')
      .again('restored')
      .and();
    expect(state).to.deep.include({ status: 'draining', terms, ...versions });
    expect(given(providerConnection, added, drained).when(decide).then('restored').and().state).to.include({
      status: 'draining',
    });
  });
});
