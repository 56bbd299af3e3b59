// Accounts: merchants, their keys and users, and what was agreed with them. Opening an account, issuing its keys, logging in and changing
// its settings is done at once for whoever asks, and nothing follows from it; links by mail are sent by a job. Its test clock is moved in
// the sandbox.
import { type Capability, each, job, owedBy } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { PasswordHasher, Passwords, UserEmails } from '../ports/credentials.ts';
import type { MailSender } from '../ports/mail.ts';
import type { PasswordLinks } from '../ports/passwordLinks.ts';
import type { SecondFactors } from '../ports/secondFactors.ts';
import type { LoginFailures, Sessions, SessionTokens } from '../ports/sessions.ts';
import { jobOfRequest, openRequests, sendLink, sendPasswordLink } from './passwordLink.ts';

export interface AccountsNeeds {
  readonly commands: CommandHandler;
  readonly emails: UserEmails;
  readonly passwords: Passwords;
  readonly hasher: PasswordHasher;
  readonly sessions: Sessions;
  readonly tokens: SessionTokens;
  readonly failures: LoginFailures;
  readonly secondFactors: SecondFactors;
  readonly links: PasswordLinks;
  readonly mail: MailSender;
  readonly publicUrl: string;
}

export const accounts: Capability<AccountsNeeds> = {
  name: 'accounts',
  processes: [],
  jobs: [
    job(sendLink, {
      handler: (needs: AccountsNeeds) => each(sendPasswordLink(needs)),
      // A mail server may be slow; nobody waits for it but those who wait for mail.
      places: { places: 4, perTarget: 4 },
      idle: 'apart',
      owed: owedBy(openRequests, jobOfRequest),
      // The command line writes requests down, too, and has no queue.
      routine: '*/5 * * * * *',
    }),
  ],
  upkeep: [
    {
      failure: 'sessions, failed logins and links of before could not be removed',
      pattern: '0 7,22,37,52 * * * *',
      run: async ({ sessions, failures, links }) => {
        await sessions.forgetOld();
        await failures.forgetOld();
        await links.forgetOld();
      },
    },
  ],
};
