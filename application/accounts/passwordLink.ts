// Mails links by which users set a password, after an invitation or a forgotten password. A request is only recorded, and a job checks the
// address, so that the response doesn't reveal whether the address is known.
import { hash } from 'node:crypto';
import { Type } from 'typebox';
import { encodeRawId, PLATFORM_ACCOUNT, type UserId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { passwordProblem } from '../../domain/user/password.ts';
import { changePassword as decideChange, type KnownUser, USER } from '../../domain/user/user.ts';
import { jobKind, type OwedSource } from '../core/capability.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import type { PayloadOf } from '../ports/jobs.ts';
import { AddressRefused, type Mail, type MailSender } from '../ports/mail.ts';
import type { LinkPurpose, LinkRequest, PasswordLinks } from '../ports/passwordLinks.ts';
import type { Randomness } from '../ports/system.ts';
import type { Waits } from './login.ts';
import { type AddUserNeeds, addUser, keepPassword, type UserAddition } from './users.ts';

// --- Invitations: a user without a password, and a link to set one ---

/**
 * Returns the user's id. If the user was already invited to the same account and role and has no password yet, sends another link.
 * Rejects like `addUser`.
 */
export const inviteUser =
  (needs: AddUserNeeds & { readonly links: Pick<PasswordLinks, 'request'> }) =>
  async (invited: Omit<UserAddition, 'password'>, by: Changer): Promise<UserId | Rejection> => {
    const added = await addUser(needs)({ ...invited, password: null }, by);
    const userId = isRejection(added) ? await waitingUser(needs, invited) : added;
    if (userId === null) return added;
    await requestPasswordLink(needs)('invitation', invited.email);
    return userId;
  };

/** Returns the user with the same invitation who has no password yet, or null. */
const waitingUser = async (
  { commands, emails }: AddUserNeeds,
  { email, accountId, role }: Omit<UserAddition, 'password'>,
): Promise<UserId | null> => {
  const userId = await emails.find(email);
  if (userId === null) return null;
  const { state } = await commands.load(USER, USER.stream(userId));
  const isWaiting =
    state.status === 'active' && state.passwordId === null && state.accountId === accountId && state.role === role;
  return isWaiting ? userId : null;
};

// --- The mail, in Portuguese like the linked page. It contains no user input. ---

const WORDS: {
  readonly [Purpose in LinkPurpose]: { readonly subject: string; readonly opening: string; readonly link: string };
} = {
  invitation: {
    subject: 'Seu acesso à Quita',
    opening: 'Você foi convidado a acessar o painel da Quita. Crie a sua senha por este link:',
    link: 'Criar a senha',
  },
  reset: {
    subject: 'Redefinição da sua senha na Quita',
    opening: 'Recebemos um pedido para redefinir a sua senha na Quita. Defina uma nova por este link:',
    link: 'Definir uma nova senha',
  },
};
const NOTE = 'O link vale por uma hora e pode ser usado uma única vez.';
const IGNORE = 'Se você não esperava esta mensagem, ignore-a: nada muda sem o link. Não o encaminhe a ninguém.';

/** `link` must not contain characters that are special in HTML. */
const passwordMail = (purpose: LinkPurpose, link: string): Pick<Mail, 'subject' | 'text' | 'html'> => {
  const { subject, opening, link: label } = WORDS[purpose];
  return {
    subject,
    text: `Olá,\n\n${opening}\n\n${link}\n\n${NOTE}\n${IGNORE}\n\nQuita\n`,
    html: `<!doctype html>
<html lang="pt-BR"><body style="font:16px/1.5 system-ui,sans-serif;color:#14201b">
<p>Olá,</p><p>${opening}</p>
<p><a href="${link}">${label}</a></p>
<p>${NOTE}<br>${IGNORE}</p><p>Quita</p>
</body></html>
`,
  };
};

export const sendLink = jobKind({
  name: 'passwordLink',
  payload: Type.Object({ requestId: Type.String() }),
  subjectOf: ({ requestId }) => requestId,
});

/** The account is unknown until the job runs, so all these jobs belong to the platform. */
export const jobOfRequest = ({ requestId }: Pick<LinkRequest, 'requestId'>) => ({
  tenant: { accountId: PLATFORM_ACCOUNT, mode: 'live' as const },
  payload: { requestId },
});

export const openRequests: OwedSource<{ readonly links: PasswordLinks }, LinkRequest> = ({ links }, { page }) =>
  links.openRequests(page);

/** Resolves when the request is recorded. If the address belongs to a user, the mail follows. */
export const requestPasswordLink =
  ({ links, randomness }: { readonly links: Pick<PasswordLinks, 'request'>; readonly randomness: Randomness }) =>
  async (purpose: LinkPurpose, email: string): Promise<void> => {
    const requestId = encodeRawId(randomness.bytes(16));
    await links.request({ requestId, purpose, email }, { queue: sendLink.name, ...jobOfRequest({ requestId }) });
  };

/** Links per user within 15 minutes, so that a stranger's requests can't flood a mailbox. */
const LINKS_MAX = 3;

interface SendLinkNeeds extends Pick<AddUserNeeds, 'commands' | 'emails'> {
  readonly links: PasswordLinks;
  readonly mail: MailSender;
  /** The deployment's public URL, without a slash at the end. */
  readonly publicUrl: string;
}

const mayHaveLink = (user: KnownUser, purpose: LinkPurpose): boolean =>
  user.status === 'active' && (purpose === 'reset' || user.passwordId === null);

/** Handles a request. Idempotent: a repeat sends the same mail with the same link. */
export const sendPasswordLink =
  ({ commands, emails, links, mail, publicUrl }: SendLinkNeeds) =>
  async ({ requestId }: PayloadOf<typeof sendLink>): Promise<void> => {
    const request = await links.findRequest(requestId);
    if (request === null) return;
    const { purpose, email } = request;
    const userId = await emails.find(email);
    const user = userId === null ? null : (await commands.load(USER, USER.stream(userId))).state;
    if (user !== null && user.status !== 'absent' && mayHaveLink(user, purpose)) {
      const token = links.tokenOf(requestId);
      const isBegun = (await links.find(token)) !== null;
      if (isBegun || (await links.countRecent(user.userId)) < LINKS_MAX) {
        await links.open(token, { userId: user.userId, replaces: user.passwordId });
        const link = `${publicUrl}/account/password#${token}`;
        try {
          await mail.send({ id: mailIdOf(token), to: user.email, ...passwordMail(purpose, link) });
        } catch (error) {
          // The failure is logged once, and the retry finds no request.
          if (error instanceof AddressRefused) await links.endRequest(requestId);
          throw error;
        }
      }
    }
    await links.endRequest(requestId);
  };

/** Derived by a hash, so that the id does not reveal the token. */
const mailIdOf = (token: string): string => hash('sha256', `mail ${token}`, 'hex').slice(0, 32);

const DEAD = reject('invalid_request', 'The link has expired or was already used.', { param: 'token' });

/**
 * Sets the password of the link's user and ends the user's sessions. Rejects with `invalid_request` if the link has expired or was used
 * (param `token`), or if the password is invalid (param `password`).
 */
export const setPassword =
  (needs: AddUserNeeds & { readonly links: PasswordLinks }) =>
  async (
    { token, password }: { readonly token: string; readonly password: string },
    requestId: string,
    waits: Pick<Waits, 'address' | 'apart'>,
  ): Promise<null | Rejection> => {
    const { commands, accounts, passwords, links } = needs;
    const link = await links.find(token);
    if (link === null) return DEAD;
    const problem = passwordProblem(password);
    if (problem !== null) return reject('invalid_request', `password ${problem}.`, { param: 'password' });
    const { userId, replaces } = link;
    const stream = USER.stream(userId);
    const { state } = await commands.load(USER, stream);
    // Checked before the costly hash.
    if (state.status !== 'active' || state.passwordId !== replaces) return DEAD;
    const passwordId = await waits.apart(
      keepPassword(needs, state, password, { email: state.email, address: waits.address }),
    );
    const by: Changer = { actor: `user:usr_${userId}`, requestId };
    const decide = decideChange({ passwordId, replaces }, accounts.realNow());
    // Not limited: a user who lost the password must be able to log in. A user gets three links in 15 minutes.
    const done = await commands.execute(USER, stream, decide, metadataForChange(by, state.accountId, userId));
    if (isRejection(done)) {
      await passwords.forget(passwordId);
      return DEAD;
    }
    await passwords.forgetOlder(userId, passwordId);
    return null;
  };
