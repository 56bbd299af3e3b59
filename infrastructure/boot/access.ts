// What logging in is made of: its adapters, and what the routes can call.
import { changePassword } from '../../application/accounts/changePassword.ts';
import { findSession, logIn } from '../../application/accounts/login.ts';
import { requestPasswordLink, setPassword } from '../../application/accounts/passwordLink.ts';
import { confirmTotp, enrolTotp } from '../../application/accounts/secondFactor.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { JobQueue } from '../../application/ports/jobs.ts';
import type { MailSender } from '../../application/ports/mail.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import { passwords, userEmails } from '../operations/credentials.ts';
import { passwordLinks } from '../operations/passwordLinks.ts';
import { loginFailures, sessions } from '../operations/sessions.ts';
import type { SecretsKeyring } from '../secrets/keyring.ts';
import { type HashParameters, passwordHasher } from '../secrets/passwordHasher.ts';
import { forgetsSecondFactors, secondFactors } from '../secrets/secondFactors.ts';
import { sessionTokens } from '../secrets/sessionTokens.ts';

/** What users are added with; it needs no secrets key. */
export const credentialsOf = (operations: SqlPool, parameters?: HashParameters) => ({
  emails: userEmails(operations),
  passwords: passwords(operations),
  hasher: passwordHasher(parameters),
  sessions: sessions(operations),
  secondFactors: forgetsSecondFactors(operations),
});

interface AccessOptions {
  readonly keyring: SecretsKeyring;
  readonly publicUrl: string;
  readonly clock: Clock;
  /** Default: those that OWASP names. */
  readonly passwordParameters?: HashParameters;
  readonly mail: MailSender;
}

export const accessOf = (
  operations: SqlPool,
  jobs: Pick<JobQueue, 'enqueue' | 'wake'>,
  { keyring, publicUrl, clock, passwordParameters, mail }: AccessOptions,
) => ({
  ...credentialsOf(operations, passwordParameters),
  tokens: sessionTokens(keyring, publicUrl, clock),
  failures: loginFailures(operations, keyring),
  secondFactors: secondFactors(operations, keyring, clock),
  links: passwordLinks(operations, jobs, keyring),
  mail,
  publicUrl,
});

type Needs = Parameters<typeof logIn>[0] &
  Parameters<typeof confirmTotp>[0] &
  Parameters<typeof changePassword>[0] &
  Parameters<typeof setPassword>[0];

export const accessServices = (needs: Needs) => ({
  findSession: findSession(needs),
  logIn: logIn(needs),
  logOut: needs.sessions.end,
  changePassword: changePassword(needs),
  enrolTotp: enrolTotp(needs),
  confirmTotp: confirmTotp(needs),
  requestPasswordLink: requestPasswordLink(needs),
  setPassword: setPassword(needs),
});
