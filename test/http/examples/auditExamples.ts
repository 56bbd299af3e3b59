// Examples for the routes of the audit log.
import { isRejection } from '../../../domain/kernel/rejection.ts';
import type { TestGateway } from '../../world/gateway.ts';
import { type AuditTokens, type Example, NO_ID } from './exampleParts.ts';

const TOKENS = '/ops/v1/audit/tokens';

export const makeAuditToken = async ({ gateway }: TestGateway): Promise<AuditTokens> => {
  const issued = await gateway.services.platform.issueAuditToken('an example');
  if (isRejection(issued)) throw new Error(issued.message);
  return { auditTokenId: issued.id };
};

const LOG = '/audit/log';
const WITHOUT_TOKEN: Omit<Example, 'path'> = { live: 401 };

export const AUDIT_EXAMPLES: { readonly [operationId: string]: Example } = {
  getAuditStatus: { live: 401 },
  rotateAuditKey: { live: 401 },
  listAuditTokens: { live: 401 },
  issueAuditToken: { body: { name: 'The auditors' }, live: 401 },
  revokeAuditToken: {
    path: ({ auditTokenId }) => `${TOKENS}/${auditTokenId}`,
    absent: `${TOKENS}/${NO_ID}`,
    live: 401,
  },
  getAuditCheckpoint: WITHOUT_TOKEN,
  getAuditTile1: { ...WITHOUT_TOKEN, path: () => `${LOG}/tile/0/000` },
  getAuditTile2: { ...WITHOUT_TOKEN, path: () => `${LOG}/tile/0/000.p/1` },
  getAuditTile3: { ...WITHOUT_TOKEN, path: () => `${LOG}/tile/entries/x001/000.p/1` },
  getAuditTile4: { ...WITHOUT_TOKEN, path: () => `${LOG}/tile/1/x001/x000/000.p/1` },
  cosignAuditCheckpoint: {
    upload: { contentType: 'text/plain', bytes: Buffer.from('not a note') },
    live: 400,
  },
  getAuditKeys: { live: 200 },
};
