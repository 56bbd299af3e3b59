// Auditors' tokens. A token is shown once; only its hash is stored.
import { hash } from 'node:crypto';
import { type Rejection, reject, SECRET_MADE_BEFORE } from '../../domain/kernel/rejection.ts';
import type { AuditToken, AuditTokens } from '../ports/auditAccess.ts';
import type { Randomness } from '../ports/system.ts';

export interface AuditorNeeds {
  readonly auditTokens: AuditTokens;
  readonly randomness: Pick<Randomness, 'bytes'>;
}

const RANDOM_BYTES = 32;
const ID_LENGTH = 16;
const NAME_LENGTH_MAX = 100;
const hashOf = (token: string): string => hash('sha256', token, 'hex');

/** Returns whether a text has the form of a token. */
const isAuditToken = (text: string): boolean => /^audit_[\w-]{43}$/.test(text);

/** Creates a token for an auditor. `form`: names the form, which creates one token. Rejects with `invalid_request`. */
export const issueAuditToken =
  ({ auditTokens, randomness }: AuditorNeeds) =>
  async (name: string, form: string | null = null): Promise<(AuditToken & { readonly token: string }) | Rejection> => {
    const trimmed = name.trim();
    if (trimmed === '' || trimmed.length > NAME_LENGTH_MAX)
      return reject('invalid_request', `name must have 1 to ${NAME_LENGTH_MAX} characters`, { param: 'name' });
    const token = `audit_${Buffer.from(randomness.bytes(RANDOM_BYTES)).toString('base64url')}`;
    const id = hashOf(form === null ? token : `form\n${form}`).slice(0, ID_LENGTH);
    const added = await auditTokens.add(id, trimmed, hashOf(token));
    return added === null ? SECRET_MADE_BEFORE : { ...added, token };
  };

/** Ends a token's access at once. A repeat changes nothing. */
export const revokeAuditToken =
  ({ auditTokens }: Pick<AuditorNeeds, 'auditTokens'>) =>
  async (id: string): Promise<AuditToken | Rejection> =>
    (await auditTokens.revoke(id)) ?? reject('not_found', `No audit token has the id ${id}.`);

/** Returns the auditor of a token, or null if the token is invalid or was revoked. */
export const findAuditor =
  ({ auditTokens }: Pick<AuditorNeeds, 'auditTokens'>) =>
  async (token: string): Promise<AuditToken | null> =>
    isAuditToken(token) ? await auditTokens.find(hashOf(token)) : null;
