// The log of authenticated requests and their outcomes (rule D3), without bodies, query strings and secrets.
import type { AccountId, Mode, RequestLogId, UserId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Position } from './eventStore.ts';

export interface LoggedRequest {
  /** Begins with the milliseconds of `createdAt`. */
  readonly id: RequestLogId;
  /** As the client sent it, or a generated `req_…`. Not necessarily unique. */
  readonly requestId: string;
  /** null: the request of an operator of the platform. */
  readonly accountId: AccountId | null;
  /** null: the request of a user, who acts in both modes. */
  readonly mode: Mode | null;
  readonly method: string;
  /** With the ids as sent, cut to 256 characters. */
  readonly path: string;
  readonly status: number;
  /** In whole milliseconds. */
  readonly durationMs: number;
  /** The first 16 hexadecimal digits. Either this or `userId` is set. */
  readonly keyFingerprint: string | null;
  readonly userId: UserId | null;
  /** When the request began, in real time. */
  readonly createdAt: Timestamp;
  /** The newest position that its process knew at the start. Events caused by the request come after it. null: the log was empty. */
  readonly logPosition: Position | null;
}

interface RequestLogFilter {
  /** null: any. */
  readonly statuses: readonly number[] | null;
  readonly keyFingerprint: string | null;
  /** Users' requests for changes, which are not GET or HEAD. */
  readonly onlyChanges?: boolean;
  /** Leaves out views of the dashboard's pages. */
  readonly withoutViews?: boolean;
}

export interface RequestLogReads {
  /** Returns the requests of the account in both modes, or of operators (null), newest first, starting after `after`. */
  list(
    accountId: AccountId | null,
    filter: RequestLogFilter,
    after: Pick<LoggedRequest, 'id' | 'createdAt'> | null,
    limit: number,
  ): Promise<readonly LoggedRequest[]>;
  /** Returns the request, or null if the account, or operators (null), made no such request. */
  find(accountId: AccountId | null, id: RequestLogId): Promise<LoggedRequest | null>;
  /** Returns requests with this id, of one account or by default of all, newest first. */
  withRequestId(requestId: string, limit: number, accountId?: AccountId): Promise<readonly LoggedRequest[]>;
}

export interface RequestLogStore {
  /** Stores the requests. Those already stored are not changed. */
  write(requests: readonly LoggedRequest[]): Promise<void>;
}

export interface RequestLogUpkeep {
  /** Creates the partitions of the coming days and drops those older than the log is kept. */
  keepDays(): Promise<void>;
}

/** The outcome of a request. */
export type AnsweredRequest = Omit<LoggedRequest, 'id' | 'createdAt' | 'logPosition'>;

/** Called when a request begins. The returned function is called once the request is answered, if its caller is known. */
export type BeginRequest = () => (answered: AnsweredRequest) => void;
