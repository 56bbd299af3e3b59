// Parts shared by the route examples.
import { hash } from 'node:crypto';
import type { CheckedLogo } from '../../../application/ports/logos.ts';
import type { AccountRole } from '../../../domain/user/user.ts';
import { pngImage } from '../../support/images.ts';
import type { FormFile } from '../../world/browser.ts';
import type { TestGateway, TestUser } from '../../world/gateway.ts';

export const NO_ID = '0'.repeat(26);
/** Credentials for logging in. */
export const USER = { email: 'rotas@example.com', password: 'a senha das rotas' };
const IMAGE = pngImage();
export const LOGO: CheckedLogo = { contentType: 'image/png', bytes: IMAGE, sha256: hash('sha256', IMAGE, 'hex') };

/** A file for multipart forms. */
export const PICTURE: FormFile = { field: 'files', name: 'nota.png', type: 'image/png', bytes: IMAGE };

/** Created once; repeated calls on them give the same answer. */
export interface Refunds {
  /** A paid charge. */
  readonly paidId: string;
  /** Refunds that the bank has not decided yet. */
  readonly confirmId: string;
  readonly failId: string;
}

/** Actions of an acquirer. Each has its own card payment, created once. */
export const ACTS = ['authorize', 'refuse', 'processing', 'chargeback', 'dispute'] as const;
export type Act = (typeof ACTS)[number];
export interface Cards {
  readonly cardIds: { readonly [act in Act]: string };
}

/** An open dispute case. */
interface Cases {
  readonly caseId: string;
  /** A paid charge that no other example uses. */
  readonly disputableId: string;
}

/** Payments whose instruments are ready. */
export interface Instruments {
  readonly boletoId: string;
  /** Includes the token of the merchant’s link. */
  readonly boletoPath: string;
  readonly cryptoId: string;
}

/** A confirmed evidence file of a dispute case, with its link. */
export interface Files {
  readonly evidenceCaseId: string;
  readonly evidenceId: string;
  readonly evidenceLink: string;
}

/** A tenant’s payouts. */
export interface Payouts {
  /** A paid payout. */
  readonly payoutId: string;
  /** Payouts that the bank has not decided yet. */
  readonly confirmPayoutId: string;
  readonly failPayoutId: string;
  /** A payout that awaits approval. */
  readonly waitingPayoutId: string;
}

/** A provider connection. */
export interface Connections {
  readonly providerId: string;
}

export interface AuditTokens {
  readonly auditTokenId: string;
}

export interface Callbacks {
  readonly callbackConnectionId: string;
  /** Includes the secret. */
  readonly callbackPath: string;
  readonly callbackId: string;
}

/** A tenant’s resources that routes can name. */
export interface Owned extends Refunds, Cards, Cases, Instruments, Files, Payouts, Callbacks, Connections, AuditTokens {
  readonly user: TestUser;
  /** A MEMBER of the tenant’s account; no test logs in as this user. */
  readonly memberId: string;
  /** An entry of the request log. */
  readonly requestLogId: string;
  readonly chargeId: string;
  readonly endpointId: string;
  /** The tenant’s account. */
  readonly accountId: string;
  /** A key that no test uses to call. */
  readonly keyId: string;
  /** An account that operators suspend and change, and a MEMBER of it. */
  readonly spareAccountId: string;
  readonly spareUserId: string;
  /** Charges whose Pix is held for review. */
  readonly heldIds: readonly [string, string, string];
  /** A charge with an unreadable event. */
  readonly parkedId: string;
  readonly deliveryId: string;
}

export interface Example {
  readonly path?: (owned: Owned) => string;
  readonly body?: unknown;
  /** Sent instead of JSON. */
  readonly upload?: { readonly contentType: string; readonly bytes: Buffer };
  /** Files of a multipart form. */
  readonly files?: readonly FormFile[];
  /** Status for a live key that names its own resources only; routes for test keys answer 403. */
  readonly live: number;
  /** Status for an authorized caller if the example can’t succeed; default: a declared success. */
  readonly refusal?: number;
  /** Roles that may call the route, if not all may. */
  readonly roles?: readonly AccountRole[];
  /** Recreates the resources that the path names before each test, because the route uses them up. */
  readonly fresh?: (gateway: TestGateway) => Promise<Partial<Owned>>;
  /** Path with an id that does not exist; only for routes that name a resource. */
  readonly absent?: string;
}
