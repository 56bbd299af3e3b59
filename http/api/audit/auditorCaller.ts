// Identifies auditors by their tokens.
import type { Request } from 'express';
import { reject } from '../../../domain/kernel/rejection.ts';
import type { Refusal } from '../../kernel/answers.ts';
import { auditTokenFailureOf, auditTokenIn } from '../../kernel/authentication.ts';
import type { AuditorCaller } from '../../kernel/callers.ts';
import type { GatewayServices } from '../../kernel/serverContext.ts';

const MESSAGES = {
  missing: 'The `Authorization` header is missing: send `Bearer` followed by an auditor’s token.',
  malformed: 'The `Authorization` header must be `Bearer` followed by an auditor’s token.',
  unknown: 'The auditor’s token is invalid or was revoked.',
} as const;

/** Entries hold business data, so they are never public. */
const isAboutEntries = ({ params }: Request): boolean => params['level'] === 'entries';

export const auditorCaller =
  ({ auditLog, findAuditor }: Pick<GatewayServices, 'auditLog' | 'findAuditor'>) =>
  async (req: Request): Promise<AuditorCaller | Refusal> => {
    const failure = auditTokenFailureOf(req);
    if (failure === 'missing' && auditLog.isPublic && !isAboutEntries(req)) return { tokenId: null };
    const token = auditTokenIn(req);
    const found = token === null ? null : await findAuditor(token);
    if (found !== null) return { tokenId: found.id };
    return { ...reject('unauthorized', MESSAGES[failure]), headers: { 'WWW-Authenticate': 'Bearer' } };
  };
