// What examples of routes have in common.
import { hash } from 'node:crypto';
import type { CheckedLogo } from '../../../application/ports/logos.ts';
import type { AccountRole } from '../../../domain/user/user.ts';
import { pngImage } from '../../support/images.ts';
import type { FormFile } from '../../world/browser.ts';
import type { TestGateway, TestUser } from '../../world/gateway.ts';

export const NO_ID = '0'.repeat(26);
/** The user who logs in. */
export const USER = { email: 'rotas@example.com', password: 'a senha das rotas' };
const IMAGE = pngImage();
export const LOGO: CheckedLogo = { contentType: 'image/png', bytes: IMAGE, sha256: hash('sha256', IMAGE, 'hex') };

/** The file of a form. */
export const PICTURE: FormFile = { field: 'files', name: 'nota.png', type: 'image/png', bytes: IMAGE };

/** Made once: asked for again, each route answers the same. */
export interface Refunds {
  /** A paid charge. */
  readonly paidId: string;
  /** Refunds that the bank has not decided. */
  readonly confirmId: string;
  readonly failId: string;
}

/** Payments by card, one for each thing that an acquirer does: made once, like the refunds. */
export const ACTS = ['authorize', 'refuse', 'processing', 'chargeback', 'dispute'] as const;
export type Act = (typeof ACTS)[number];
export interface Cards {
  readonly cardIds: { readonly [act in Act]: string };
}

/** A dispute case that is open. */
interface Cases {
  readonly caseId: string;
  /** A paid charge that nothing else is done with. */
  readonly disputableId: string;
}

/** Payments that have their instruments. */
export interface Instruments {
  readonly boletoId: string;
  /** With the token of the merchant's link. */
  readonly boletoPath: string;
  readonly cryptoId: string;
}

/** A confirmed file of a dispute case, and the link to it. */
export interface Files {
  readonly evidenceCaseId: string;
  readonly evidenceId: string;
  readonly evidenceLink: string;
}

/** Payouts of a tenant. */
export interface Payouts {
  /** Paid. */
  readonly payoutId: string;
  /** The bank has not decided them. */
  readonly confirmPayoutId: string;
  readonly failPayoutId: string;
  /** It awaits approval. */
  readonly waitingPayoutId: string;
}

/** A callback that waits for an operator. */
export interface Connections {
  readonly providerId: string;
}

export interface AuditTokens {
  readonly auditTokenId: string;
}

export interface Callbacks {
  readonly callbackConnectionId: string;
  /** With the secret. */
  readonly callbackPath: string;
  readonly callbackId: string;
}

/** What a tenant owns that routes can name. */
export interface Owned extends Refunds, Cards, Cases, Instruments, Files, Payouts, Callbacks, Connections, AuditTokens {
  readonly user: TestUser;
  /** A MEMBER of the tenant's account, as whom no test logs in. */
  readonly memberId: string;
  /** A request in the log. */
  readonly requestLogId: string;
  readonly chargeId: string;
  readonly endpointId: string;
  /** Of the tenant. */
  readonly accountId: string;
  /** A key that no test uses to call. */
  readonly keyId: string;
  /** An account that operators suspend and change, and a MEMBER of it. */
  readonly spareAccountId: string;
  readonly spareUserId: string;
  /** Charges whose Pix is held. */
  readonly heldIds: readonly [string, string, string];
  /** A charge that nobody can read. */
  readonly parkedId: string;
  readonly deliveryId: string;
}

export interface Example {
  readonly path?: (owned: Owned) => string;
  readonly body?: unknown;
  /** Instead of JSON. */
  readonly upload?: { readonly contentType: string; readonly bytes: Buffer };
  /** Of a form with files. */
  readonly files?: readonly FormFile[];
  /** What a live key gets that names only what is its own; routes for test keys aside. */
  readonly live: number;
  /** What a caller whom the route is for gets, where the body of a table can't be right; default: a success that the route declares. */
  readonly refusal?: number;
  /** Roles of an account that may ask for it, where not every one may. */
  readonly roles?: readonly AccountRole[];
  /** Makes what the path names anew, for each test: what is done with it can be done once. */
  readonly fresh?: (gateway: TestGateway) => Promise<Partial<Owned>>;
  /** The path of a resource that never was; only routes that name one. */
  readonly absent?: string;
}
