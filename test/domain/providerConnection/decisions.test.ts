import { expect } from 'chai';
import type { ConnectionId } from '../../../domain/kernel/ids.ts';
import { reject } from '../../../domain/kernel/rejection.ts';
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
  it('adds an enabled connection and is idempotent', () => {
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
  it('keeps the original connection when repeated with other content, even after its removal', () => {
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
  it('records all settings and is idempotent', () => {
    const { state } = given(providerConnection, added)
      .when(changeConnection(change, null, at('12:30:00')))
      .then(changed, 'changed')
      .again('changed')
      .and();
    expect(state).to.deep.include({ status: 'enabled', terms: { ...terms, ...change }, changedAt: at('12:30:00') });
  });
  it('remembers former Pix keys until they become the current key again', () => {
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
  it('records a new private key as a change', () => {
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
  it('records nothing if no value changes', () => {
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
    it(`switches to ${to} and is idempotent`, () => {
      const from = to === 'enabled' ? [added, disabled] : [added];
      const { state } = given(providerConnection, ...from)
        .when(switchConnection(to, at('12:30:00')))
        .then({ type, data: { at: at('12:30:00') } }, 'switched')
        .again('switched')
        .and();
      expect(state.status).to.equal(to);
    });
});

const NOTHING = { payments: 0, payouts: 0, callbacks: 0 };

describe('removeConnection', () => {
  for (const before of [[added], [added, drained], [added, disabled]])
    it(`removes the connection after ${before.at(-1)?.type} and is idempotent`, () => {
      const { state } = given(providerConnection, ...before)
        .when(removeConnection(NOTHING, at('13:00:00')))
        .then(removed, 'removed')
        .again('removed')
        .and();
      expect(state.status).to.equal('removed');
    });
  it('rejects the removal while anything is open, and names it', () => {
    for (const [work, says] of [
      [{ payments: 2, payouts: 1 }, 'payments or payouts that are not final (3)'],
      [{ callbacks: 4 }, 'callbacks that are not handled (4)'],
      [
        { payments: 1, callbacks: 1 },
        'payments or payouts that are not final (1) and callbacks that are not handled (1)',
      ],
    ] as const) {
      const { state } = given(providerConnection, added);
      expect(removeConnection({ ...NOTHING, ...work }, at('13:00:00'))(state)).to.deep.equal(
        reject('connection_in_use', `The connection has ${says}. Drain it and wait until nothing is open.`),
      );
    }
  });
  it('keeps a removed connection removed, even with open items', () => {
    given(providerConnection, added, removed)
      .when(removeConnection({ ...NOTHING, payouts: 1 }, at('13:30:00')))
      .then('removed');
  });
});

describe('rotations of a connection’s secrets', () => {
  it('increase only the version of a client secret', () => {
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
  it('keep the previous callback secret valid for 24 hours or until the next rotation', () => {
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

describe('a missing or removed connection', () => {
  const DECISIONS = {
    change: changeConnection({ name: 'Outro' }, null, at('14:00:00')),
    switch: switchConnection('enabled', at('14:00:00')),
    'rotate the client secret': rotateClientSecret(2, at('14:00:00')),
    'rotate the callback secret': rotateCallbackSecret(2, at('14:00:00')),
  };
  for (const [what, decide] of Object.entries(DECISIONS))
    it(`rejects with not_found: ${what}`, () => {
      given(providerConnection).when(decide).rejected('not_found');
      given(providerConnection, added, removed).when(decide).rejected('not_found');
    });
  it('rejects the removal with not_found, even with open items', () => {
    given(providerConnection)
      .when(removeConnection({ ...NOTHING, payouts: 1 }, at('14:00:00')))
      .rejected('not_found');
  });
});

describe('settingProblem', () => {
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
    // Only the first problem is reported.
    [{ order: -1, name: '' }, 'name'],
  ];
  for (const [wrong, param] of WRONG)
    it(`reports ${param} for ${JSON.stringify(wrong).slice(0, 40)}`, () => {
      expect(settingProblem({ ...settings, ...wrong })?.param).to.equal(param);
    });
  it('returns null for valid settings', () => {
    expect(settingProblem(settings)).to.equal(null);
  });
});

describe('the events of a provider connection', () => {
  it('store the versions of secrets, never a secret', () => {
    const names = Object.values(PROVIDER_CONNECTION.serde.table).flatMap(({ shape }) =>
      Object.keys(shape.fields ?? {}),
    );
    expect([...new Set(names)].filter((name) => /secret|key|password/i.test(name)).toSorted()).to.deep.equal([
      'callbackSecretVersion',
      'clientSecretVersion',
      'pixKey',
      'privateKeyVersion',
    ]);
  });
});

describe('restoreConnection', () => {
  const decide = restoreConnection(at('13:00:02'));
  it('drains a removed connection, is idempotent and does nothing to a draining one', () => {
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
