// After PostgreSQL was restored to a state older than the log: compares the data that the log names with the stored data, makes the
// restored work safe to repeat, and lists manual steps.
import { stat } from 'node:fs/promises';
import { overrideSecretIdOf } from '../../application/core/derivedIds.ts';
import { type EventLog, UnreadableEvent } from '../../application/ports/eventCodec.ts';
import type { EvidenceRef } from '../../application/ports/evidenceStorage.ts';
import { isOf, type LoggedEvent } from '../../application/ports/loggedEvent.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { ACCOUNT } from '../../domain/account/account.ts';
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import type { MedCaseEvent } from '../../domain/dispute/medCase.ts';
import type { Aggregate } from '../../domain/kernel/aggregate.ts';
import type { Fact } from '../../domain/kernel/decider.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { PROVIDER_CONNECTION } from '../../domain/providerConnection/aggregate.ts';
import { USER } from '../../domain/user/user.ts';
import { WEBHOOK_ENDPOINT } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import type { Storage } from '../boot/storage.ts';
import { type EvidenceOptions, evidenceOf } from '../evidence/evidence.ts';
import { evidencePath } from '../evidence/fileStorage.ts';
import { FIND_INSTALLED, RETRY_ALL } from '../jobs/statements.ts';
import { claimAgain } from './claimAgain.ts';
import type { CliWorld } from './command.ts';
import { lostDataKeys } from './lostDataKeys.ts';
import { startOfLostTime } from './lostTime.ts';

/** Data outside the log that the log names. */
interface Named {
  /** The name of the finding. */
  readonly check: string;
  /** Its key in the table of its kind. */
  readonly key: readonly string[];
  /** Its owner, as an operator writes it: `wh_…`. */
  readonly owner: string;
}

/** A kind of stored data: its place, and the manual step if it is missing. */
interface Kind {
  readonly check: string;
  /** A query for the keys $1… (one array per part of the key) that exist. */
  readonly text: string;
  readonly toDo: string;
}

const inTable = (table: string, ...columns: readonly string[]): string =>
  `SELECT ${columns.map((column) => `t.${column}::text`).join(` || ' ' || `)} AS key FROM operations.${table} t
   JOIN unnest(${columns.map((_, n) => `$${n + 1}::text[]`).join(', ')}) AS v (${columns.join(', ')})
     ON ${columns.map((column) => `t.${column}::text = v.${column}`).join(' AND ')}`;

const KINDS: readonly Kind[] = [
  {
    check: 'webhook secrets',
    text: inTable('webhook_secrets', 'endpoint_id', 'version'),
    toDo: 'its merchant must rotate the secret (POST /v1/webhooks/endpoints/{id}/rotate-secret, or …/override-secret/rotate)',
  },
  {
    check: 'connection secrets',
    text: inTable('connection_secrets', 'connection_id', 'kind', 'version'),
    toDo: 'run provider set --private-key, provider rotate-client-secret or provider rotate-callback-secret',
  },
  {
    check: 'email addresses',
    text: inTable('user_emails', 'email', 'user_id'),
    toDo: 'another user has the address by now: disable one of them',
  },
  { check: 'passwords', text: inTable('passwords', 'id'), toDo: 'the user must ask for a password link' },
  { check: 'second factors', text: inTable('second_factors', 'id'), toDo: 'run user reset-second-factor' },
  { check: 'logos', text: inTable('logos', 'sha256', 'account_id'), toDo: 'its merchant must upload the logo again' },
];

/** The states of all streams of an aggregate, folded from the log. */
class States<State, Event extends Fact<string, unknown>> {
  readonly #aggregate: Aggregate<State, Event>;
  readonly #states = new Map<string, State>();

  constructor(aggregate: Aggregate<State, Event>) {
    this.#aggregate = aggregate;
  }

  take(logged: LoggedEvent): void {
    if (!isOf(logged, this.#aggregate)) return;
    const { initial, evolve } = this.#aggregate.decider;
    this.#states.set(logged.subject, evolve(this.#states.get(logged.subject) ?? initial, logged.event));
  }
  named(namedBy: (state: State, id: string) => readonly Named[]): readonly Named[] {
    return [...this.#states].flatMap(([id, state]) => namedBy(state, id));
  }
}

interface NamedByLog {
  readonly stored: readonly Named[];
  readonly files: readonly (EvidenceRef & { readonly owner: string })[];
}

const one = (check: string, owner: string, ...key: readonly (string | number)[]): Named => ({
  check,
  owner,
  key: key.map(String),
});

const AGGREGATES = [WEBHOOK_ENDPOINT, USER, ACCOUNT, PROVIDER_CONNECTION, MED_CASE];

/** Reads the events of the aggregates that name data outside the log. */
const namedByLog = async ({ store, codec }: EventLog, signal: AbortSignal): Promise<NamedByLog> => {
  const endpoints = new States(WEBHOOK_ENDPOINT);
  const users = new States(USER);
  const accounts = new States(ACCOUNT);
  const connections = new States(PROVIDER_CONNECTION);
  const filesOf = new Map<string, NamedByLog['files'][number][]>();
  const categories = AGGREGATES.map(({ category }) => category);
  for await (const batch of store.subscribe({ after: null, categories, signal })) {
    if (batch.kind === 'caughtUp') break;
    if (batch.kind !== 'events') continue;
    for (const logged of await codec.decode(batch.events)) {
      if (logged instanceof UnreadableEvent) continue; // it is reported as a parked stream
      for (const states of [endpoints, users, accounts, connections]) states.take(logged);
      if (isOf(logged, MED_CASE)) takeFiles(filesOf, logged, logged.event);
    }
  }
  return {
    files: [...filesOf.values()].flat(),
    stored: [...ofEndpoints(endpoints), ...ofUsers(users), ...ofAccounts(accounts), ...ofConnections(connections)],
  };
};

/** An erasure removed the files of its case for good, so they are not missing. */
const takeFiles = (
  filesOf: Map<string, NamedByLog['files'][number][]>,
  { account: accountId, mode, subject }: LoggedEvent,
  event: MedCaseEvent,
): void => {
  if (event.type === 'MedCasePersonalDataErased') filesOf.delete(subject);
  if (event.type !== 'MedCaseEvidenceConfirmed') return;
  const file = { accountId, mode, evidenceId: event.data.evidenceId, owner: MED_CASE.idPrefix + subject };
  filesOf.set(subject, [...(filesOf.get(subject) ?? []), file]);
};

type StatesOf<A> = A extends Aggregate<infer State, infer Event> ? Pick<States<State, Event>, 'named'> : never;

const ofEndpoints = (states: StatesOf<typeof WEBHOOK_ENDPOINT>): readonly Named[] =>
  states.named((state, id) =>
    state.status === 'absent' || state.status === 'deleted'
      ? []
      : [one('webhook secrets', WEBHOOK_ENDPOINT.idPrefix + id, id, state.secretVersion)],
  );

const ofUsers = (states: StatesOf<typeof USER>): readonly Named[] =>
  states.named((state, id) => {
    if (state.status === 'absent') return [];
    const owner = USER.idPrefix + id;
    return [
      one('email addresses', owner, state.email.toLowerCase(), id),
      ...(state.passwordId === null ? [] : [one('passwords', owner, state.passwordId)]),
      ...(state.secondFactorId === null ? [] : [one('second factors', owner, state.secondFactorId)]),
    ];
  });

const ofAccounts = (states: StatesOf<typeof ACCOUNT>): readonly Named[] =>
  states.named((state, id) => {
    if (state.status === 'absent') return [];
    const owner = ACCOUNT.idPrefix + id;
    const overrides = (['test', 'live'] as const).flatMap((mode) => {
      const version = state.overrideSecretVersion[mode];
      // Version 0 was never shown to anybody, so it is created again.
      return version === 0
        ? []
        : [one('webhook secrets', `${owner} ${mode}`, overrideSecretIdOf(id as AccountId, mode), version)];
    });
    return [...overrides, ...(state.settings.logo === null ? [] : [one('logos', owner, state.settings.logo, id)])];
  });

const ofConnections = (states: StatesOf<typeof PROVIDER_CONNECTION>): readonly Named[] =>
  states.named((state, id) => {
    if (state.status === 'absent' || state.status === 'removed') return [];
    const { clientSecretVersion: client, privateKeyVersion: privateKey, callbackSecretVersion: callback } = state;
    return Object.entries({ client, privateKey, callback }).flatMap(([kind, version]) =>
      version === 0 ? [] : [one('connection secrets', PROVIDER_CONNECTION.idPrefix + id, id, kind, version)],
    );
  });

/** Returns the named data that is not stored. */
const missingOf = async (db: Sql, { text }: Kind, named: readonly Named[]): Promise<readonly Named[]> => {
  const [first] = named;
  if (first === undefined) return [];
  const parts = first.key.map((_, n) => named.map(({ key }) => key[n]));
  const { rows } = await db.query<{ key: string }>(text, parts);
  const stored = new Set(rows.map(({ key }) => key));
  return named.filter(({ key }) => !stored.has(key.join(' ')));
};

const hasFile = async ({ folder, s3 }: EvidenceOptions): Promise<(ref: EvidenceRef) => Promise<boolean>> => {
  if (s3 === null)
    return (ref) =>
      stat(evidencePath(folder, ref)).then(
        () => true,
        () => false,
      );
  const { S3EvidenceStorage } = await import('../evidence/s3Storage.ts');
  const storage = new S3EvidenceStorage(s3);
  return async (ref) => {
    const file = await storage.open(ref);
    file?.close();
    return file !== null;
  };
};

/** How long deliveries are looked up before they are sent: longer than any backlog. */
const LOOKUP_DAYS = 7;

/**
 * Stores missing email addresses, ends sessions and password links, and marks restored jobs as possible repeats. Returns the numbers of
 * sessions and jobs. Safe to repeat.
 */
const makeSafe = (storage: Pick<Storage, 'operations'>, emails: readonly Named[]) =>
  storage.operations.transaction(async (tx) => {
    const keys = [emails.map(({ key }) => key[0]), emails.map(({ key }) => key[1])];
    await tx.query(
      `INSERT INTO operations.user_emails (email, user_id) SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT DO NOTHING`,
      keys,
    );
    const sessions = await tx.query('DELETE FROM operations.sessions');
    await tx.query('DELETE FROM operations.password_links; DELETE FROM operations.password_link_requests');
    await tx.query(`INSERT INTO operations.restores (lookups_until) VALUES (now() + $1 * interval '1 day')`, [
      LOOKUP_DAYS,
    ]);
    const { rows } = await tx.query<{ installed: boolean }>(FIND_INSTALLED);
    const jobs = rows[0]?.installed ? await tx.query(RETRY_ALL) : { rowCount: 0 };
    return { sessions: sessions.rowCount, jobs: jobs.rowCount };
  });

/** Names at most this many owners in one line. */
const OWNERS_MAX = 20;

const listed = (owners: readonly string[]): string => {
  const all = [...new Set(owners)];
  const rest = all.length - OWNERS_MAX;
  return all.slice(0, OWNERS_MAX).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
};

interface Finding {
  readonly check: string;
  readonly isGood: boolean;
  readonly says: string;
}

const missingFor = (owners: readonly string[], toDo: string): string => `missing for ${listed(owners)}: ${toDo}`;

const KEYS_TO_DO =
  'restore their rows of privacy.data_keys from a newer copy, if there is one; otherwise their personal data reads as erased';

const findingOf = (check: string, total: number, missing: readonly string[], toDo: string): Finding => ({
  check,
  isGood: missing.length === 0,
  says: missing.length === 0 ? `all ${total} stored` : missingFor(missing, toDo),
});

/** While programs run, messages of the lost time are sent again, running jobs begin a second time, and checkpoints move. */
const programsOf = async ({ platform }: Pick<CliWorld, 'platform'>): Promise<Finding> => {
  const roles = [...new Set((await platform.listLeaders()).map(({ role }) => role))];
  const isGood = roles.length === 0;
  const toDo = `some run (${roles.join(', ')}), so the checkpoints no longer show what the restore lost: stop all of them, then run doctor --after-restore --all`;
  return { check: 'programs', isGood, says: isGood ? 'all stopped' : toDo };
};

/** Runs the checks and repairs. The programs must not run. `comparesAll`: a program has run since the restore. */
export const afterRestore = async (world: CliWorld, comparesAll: boolean): Promise<readonly Finding[]> => {
  const { storage, config, commands, signal } = world;
  const programs = await programsOf(world);
  const after = comparesAll || !programs.isGood ? null : await startOfLostTime(storage);
  const { stored, files } = await namedByLog(storage, signal);
  const of = (check: string) => stored.filter((named) => named.check === check);
  const [emails] = KINDS.filter(({ check }) => check === 'email addresses') as [Kind];
  const { sessions, jobs } = await makeSafe(storage, await missingOf(storage.operations, emails, of(emails.check)));
  const claims = await claimAgain(after, storage, commands, signal);
  const keyless = await lostDataKeys(after, storage, signal);
  const findings: Finding[] = [];
  for (const kind of KINDS) {
    const missing = await missingOf(storage.operations, kind, of(kind.check));
    findings.push(
      findingOf(
        kind.check,
        of(kind.check).length,
        missing.map(({ owner }) => owner),
        kind.toDo,
      ),
    );
  }
  const isStored = await hasFile(evidenceOf(config));
  const lost: string[] = [];
  for (const file of files) if (!(await isStored(file))) lost.push(file.owner);
  return [
    programs,
    {
      check: 'lost time',
      isGood: true,
      says: after === null ? 'all events compared' : `events after position ${after} compared`,
    },
    ...findings,
    findingOf('evidence files', files.length, lost, 'restore the files, or ask the merchant for them'),
    {
      check: 'lost data keys',
      isGood: keyless.length === 0,
      says: keyless.length === 0 ? 'none' : missingFor(keyless, KEYS_TO_DO),
    },
    {
      check: 'received payments',
      isGood: true,
      says: `${claims} claimed again, so that no Pix counts for two payments`,
    },
    { check: 'sessions', isGood: true, says: `${sessions} ended: users log in again` },
    {
      check: 'deliveries and jobs',
      isGood: true,
      says: `${jobs} restored jobs and all deliveries of the next ${LOOKUP_DAYS} days are looked up before they are repeated`,
    },
  ];
};
