// Adapters for accounts, their keys and users.
import { randomUUID } from 'node:crypto';
import type { JobQueue } from '../../application/ports/jobs.ts';
import type { MailSender } from '../../application/ports/mail.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { Clock } from '../../application/ports/system.ts';
import { capabilityAdapters } from '../capabilityAdapters.ts';
import { checkedLogo } from '../logos/logoImage.ts';
import { logos } from '../logos/logos.ts';
import { tenantLock } from '../postgres/tenantLock.ts';
import type { SecretsKeyring } from '../secrets/keyring.ts';
import { type HashParameters, passwordHasher } from '../secrets/passwordHasher.ts';
import { forgetsSecondFactors, secondFactors } from '../secrets/secondFactors.ts';
import { sessionTokens } from '../secrets/sessionTokens.ts';
import { systemStopwatch as stopwatch, systemRandomness } from '../system/system.ts';
import { PostgresAccessLeases } from './accessLeases.ts';
import { passwords, userEmails } from './credentials.ts';
import { keyUseReads } from './keyUses.ts';
import { linkRequests, passwordLinks } from './passwordLinks.ts';
import { loginFailures, sessions } from './sessions.ts';

interface Operations {
  readonly operations: SqlPool;
}

/** Returns access leases for a process that only announces changes. */
export const accessLeases = (
  { operations: db }: Operations,
  options: Partial<ConstructorParameters<typeof PostgresAccessLeases>[0]> = {},
): PostgresAccessLeases =>
  new PostgresAccessLeases({ db, process: randomUUID(), stopwatch, onError: () => undefined, ...options });

/** Adapters for operators, which need neither a secrets key nor a job queue. */
const operatorsAdapters = ({ operations }: Operations, parameters?: HashParameters) => ({
  randomness: systemRandomness,
  emails: userEmails(operations),
  passwords: passwords(operations),
  hasher: passwordHasher(parameters),
  sessions: sessions(operations),
  secondFactors: forgetsSecondFactors(operations),
  // The running program polls for requests every few seconds.
  links: linkRequests(operations, null),
  keyUses: keyUseReads(operations),
  withTenantLock: tenantLock(operations),
});

interface World {
  readonly storage: Operations;
  readonly jobs: Pick<JobQueue, 'enqueue'>;
  readonly keyring: SecretsKeyring;
  readonly publicUrl: string;
  readonly clock: Clock;
  /** Default: OWASP's. */
  readonly passwordParameters?: HashParameters;
  readonly mail: MailSender;
}

const adapters = ({ storage, jobs, keyring, publicUrl, clock, passwordParameters, mail }: World) => {
  const { operations } = storage;
  return {
    ...operatorsAdapters(storage, passwordParameters),
    tokens: sessionTokens(keyring, publicUrl, clock),
    failures: loginFailures(operations, keyring),
    secondFactors: secondFactors(operations, keyring, clock),
    links: passwordLinks(operations, jobs, keyring),
    logos: logos(operations),
    checkLogo: checkedLogo,
    mail,
    publicUrl,
  };
};

export const accounts = capabilityAdapters({
  adapters,
  operatorsAdapters: ({ storage }: Pick<World, 'storage'>) => operatorsAdapters(storage),
  terminal: () => import('./terminal.ts'),
});
