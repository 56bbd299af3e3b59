// Links for setting a password (valid for one use and one hour), and requests for them. Operational data.
import type { PasswordId, UserId } from '../../domain/kernel/ids.ts';
import type { JobRequest } from './jobs.ts';

/** Why the link is sent: the user was invited, or requested a password reset. */
export type LinkPurpose = 'invitation' | 'reset';

export interface LinkRequest {
  /** A raw id. */
  readonly requestId: string;
  readonly purpose: LinkPurpose;
  /** As entered. May belong to no user. */
  readonly email: string;
}

interface PasswordLink {
  readonly userId: UserId;
  /** The valid password when the link was made; null: none. The link becomes invalid when the password changes, so it has one use. */
  readonly replaces: PasswordId | null;
}

export interface PasswordLinks {
  /** Stores a request and its job in one transaction. No-op if a request for this address is already waiting. */
  request(request: LinkRequest, job: JobRequest): Promise<void>;
  /** Returns the request, or null if it is done. */
  findRequest(requestId: string): Promise<LinkRequest | null>;
  /** Removes a request that is done. */
  endRequest(requestId: string): Promise<void>;
  /** Yields the unfinished requests of the last day, in pages of `page`. */
  openRequests(page: number): AsyncIterable<readonly LinkRequest[]>;

  /** Returns the secret of the request's link. It is derived from the id and never stored, so it is always the same. */
  tokenOf(requestId: string): string;
  /** Makes the link valid for one hour from now. */
  open(token: string, link: PasswordLink): Promise<void>;
  /** Returns the link, or null if it does not exist or has expired. */
  find(token: string): Promise<PasswordLink | null>;
  /** Returns how many links were made for the user within the last 15 minutes. */
  countRecent(userId: UserId): Promise<number>;
  /** Removes expired links and requests. */
  forgetOld(): Promise<void>;
}
