// A read model does not depend on the size of batches, even if one batch suspends and reopens, disables and enables, or issues and
// revokes.

import { expect } from 'chai';
import { DECLARED_SETTINGS } from '../../application/capabilities.ts';
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import { type AccountEvent, defaultSettings } from '../../domain/account/account.ts';
import type { AccountId, KeyId, PasswordId, UserId } from '../../domain/kernel/ids.ts';
import { addSeconds } from '../../domain/kernel/time.ts';
import type { ApiKey, KeyringEvent } from '../../domain/keyring/keyring.ts';
import type { AccountRole, UserEvent } from '../../domain/user/user.ts';
import type { PgPool } from '../../infrastructure/postgres/session.ts';
import { accountsProjection } from '../../projections/accounts/projection.ts';
import { createSchema } from '../../projections/engine/schemaVersions.ts';
import { keyringProjection } from '../../projections/keyring/projection.ts';
import { usersProjection } from '../../projections/users/projection.ts';
import { CREATED_AT } from '../support/samples.ts';
import { useDatabase } from '../world/postgres.ts';

const T = (seconds: number) => addSeconds(CREATED_AT, seconds);
const idOf = <Id extends string>(n: number): Id => String(n).padStart(26, '0') as Id;
const [ONE, TWO] = [idOf<AccountId>(1), idOf<AccountId>(2)];
const logged = (category: string, subject: string, event: AccountEvent | UserEvent | KeyringEvent) =>
  ({ category, subject, event }) as LoggedEvent;

const account = (accountId: AccountId, event: AccountEvent) => logged('account', accountId, event);
const opened = (accountId: AccountId): LoggedEvent =>
  account(accountId, {
    type: 'AccountOpened',
    data: {
      ...{ accountId, name: 'Loja', email: 'loja@example.com', idSeed: Buffer.alloc(32).toString('base64') },
      settings: defaultSettings('Loja', DECLARED_SETTINGS.settings),
      at: T(0),
    },
  });
const suspended = (accountId: AccountId, at: number) =>
  account(accountId, { type: 'AccountSuspended', data: { at: T(at) } });
const reopened = (accountId: AccountId, at: number) =>
  account(accountId, { type: 'AccountReopened', data: { at: T(at) } });

const user = (n: number, event: UserEvent) => logged('user', idOf(n), event);
const added = (n: number): LoggedEvent =>
  user(n, {
    type: 'UserAdded',
    data: {
      ...{ userId: idOf<UserId>(n), accountId: ONE, email: `${n}@example.com`, name: 'Ana', role: 'OWNER' },
      ...{ passwordId: null, at: T(n) },
    },
  });
const disabled = (n: number) => user(n, { type: 'UserDisabled', data: { at: T(n) } });
const enabled = (n: number) => user(n, { type: 'UserEnabled', data: { at: T(n) } });
const role = (n: number, of: AccountRole) => user(n, { type: 'UserRoleChanged', data: { role: of, at: T(n) } });

const key = (n: number): ApiKey => ({
  ...{ keyId: idOf<KeyId>(n), accountId: ONE, mode: 'live', fingerprint: String(n).repeat(64), prefix: 'ak_live_xxxx' },
  ...{ label: n === 1 ? null : 'till', issuedAt: T(n) },
});
const keys = (event: KeyringEvent) => logged('keyring', ONE, event);
const issued = (n: number) => keys({ type: 'ApiKeyIssued', data: key(n) });
const rotated = (from: number, to: number) =>
  keys({ type: 'ApiKeyRotated', data: { replaced: idOf(from), key: key(to) } });
const revoked = (n: number) => keys({ type: 'ApiKeyRevoked', data: { keyId: idOf(n), at: T(n) } });

const CASES = [
  {
    projection: accountsProjection,
    columns: 'id, suspended_at IS NOT NULL AS value',
    events: [
      ...[opened(ONE), suspended(ONE, 1), opened(TWO), suspended(TWO, 2), reopened(TWO, 3), suspended(TWO, 4)],
      ...[reopened(ONE, 5)],
      account(ONE, {
        type: 'AccountSandboxSettingsChanged',
        data: { sandbox: {}, at: T(6) },
      }),
    ],
    left: [
      [ONE, false],
      [TWO, true],
    ],
  },
  {
    projection: usersProjection,
    columns: `id, status || ' ' || role AS value`,
    events: [
      ...[added(1), disabled(1), role(1, 'ADMIN'), enabled(1), role(1, 'VIEWER')],
      ...[added(2), disabled(2), enabled(2), disabled(2), added(3), role(3, 'MEMBER'), role(3, 'OWNER')],
      user(1, { type: 'UserPasswordChanged', data: { passwordId: idOf<PasswordId>(9), at: T(9) } }),
    ],
    left: [
      [idOf(1), 'active VIEWER'],
      [idOf(2), 'disabled OWNER'],
      [idOf(3), 'active OWNER'],
    ],
  },
  {
    projection: keyringProjection,
    columns: 'key_id AS id, fingerprint AS value',
    events: [issued(1), rotated(1, 2), issued(3), rotated(2, 4), issued(5), revoked(3)],
    left: [
      [idOf(4), '4'.repeat(64)],
      [idOf(5), '5'.repeat(64)],
    ],
  },
] as const;

describe('batches of events', () => {
  let pool: PgPool;
  useDatabase('suite', 2, (opened) => {
    pool = opened;
  });

  for (const { projection, columns, events, left } of CASES)
    it(`of any size produce the same ${projection.name}`, async () => {
      const table = projection.tables[0]?.name;
      const whole: unknown[] = [];
      for (const size of [1, 2, 3, events.length]) {
        const schema = `batches_of_${size}_${projection.name}`;
        await pool.transaction(async (tx) => {
          await createSchema(tx, projection, schema);
          const writer = projection.writer(schema);
          for (let n = 0; n < events.length; n += size) await writer.apply(events.slice(n, n + size), tx);
        });
        const { rows } = await pool.query<{ id: string; value: unknown }>(
          `SELECT ${columns} FROM ${schema}.${table} ORDER BY id`,
        );
        expect(rows.map(({ id, value }) => [id, value])).to.deep.equal(left);
        whole.push((await pool.query(`SELECT * FROM ${schema}.${table} t ORDER BY t::text`)).rows);
      }
      for (const rows of whole) expect(rows).to.deep.equal(whole[0]);
    });
});
