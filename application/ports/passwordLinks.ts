// Links by which a user sets a password (one use, one hour), and requests for them: operational data.
import type { PasswordId, UserId } from '../../domain/kernel/ids.ts';
import type { JobRequest } from './jobs.ts';

/** A user was invited, or says that the password is forgotten. */
export type LinkPurpose = 'invitation' | 'reset';

export interface LinkRequest {
  /** A raw id. */
  readonly requestId: string;
  readonly purpose: LinkPurpose;
  /** As it was typed: it may belong to no user. */
  readonly email: string;
}

interface PasswordLink {
  readonly userId: UserId;
  /** The password in force when the link was made, null when there was none. With another one in force the link is dead: it has one use. */
  readonly replaces: PasswordId | null;
}

export interface PasswordLinks {
  /** Writes a request down with its job, in one transaction; nothing when one for this address waits already. */
  request(request: LinkRequest, job: JobRequest): Promise<void>;
  /** Returns null when it is done. */
  findRequest(requestId: string): Promise<LinkRequest | null>;
  /** Forgets it: it is done. */
  endRequest(requestId: string): Promise<void>;
  /** Yields those of the last day that are not done, `page` at a time. */
  openRequests(page: number): AsyncIterable<readonly LinkRequest[]>;

  /** Returns the secret of the request's link: the same one however often it is asked for, and stored nowhere. */
  tokenOf(requestId: string): string;
  /** Lets the link open for an hour from now on. */
  open(token: string, link: PasswordLink): Promise<void>;
  /** Returns null when there is none, or its hour is over. */
  find(token: string): Promise<PasswordLink | null>;
  /** How many links of the user were opened within the last quarter of an hour. */
  countRecent(userId: UserId): Promise<number>;
  /** Removes links and requests whose time is over. */
  forgetOld(): Promise<void>;
}
