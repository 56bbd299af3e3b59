// The log of requests whose caller is known (rule D3): what came of each, without bodies, queries and secrets.
import type { AccountId, Mode, RequestLogId, UserId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Position } from './eventStore.ts';

export interface LoggedRequest {
  /** Begins with the milliseconds of `createdAt`. */
  readonly id: RequestLogId;
  /** As the client sent it, or `req_…`: nobody says that it is used once. */
  readonly requestId: string;
  /** null: of an operator of the platform. */
  readonly accountId: AccountId | null;
  /** null: of a user, who acts in both modes. */
  readonly mode: Mode | null;
  readonly method: string;
  /** With the ids as they were sent, cut to 256 characters. */
  readonly path: string;
  readonly status: number;
  /** Whole. */
  readonly durationMs: number;
  /** The first 16 hexadecimal digits. Either this or `userId`. */
  readonly keyFingerprint: string | null;
  readonly userId: UserId | null;
  /** Real time: when it began. */
  readonly createdAt: Timestamp;
  /** The newest event that its process knew of when it began: what the request caused is behind it. null: the log was empty. */
  readonly logPosition: Position | null;
}

interface RequestLogFilter {
  /** null: any. */
  readonly statuses: readonly number[] | null;
  readonly keyFingerprint: string | null;
}

export interface RequestLogReads {
  /** Returns the account's requests of both modes, newest first, from behind `after`. */
  list(
    accountId: AccountId,
    filter: RequestLogFilter,
    after: Pick<LoggedRequest, 'id' | 'createdAt'> | null,
    limit: number,
  ): Promise<readonly LoggedRequest[]>;
  /** null: it is not one of the account's. */
  find(accountId: AccountId, id: RequestLogId): Promise<LoggedRequest | null>;
  /** Returns requests of all accounts with this id, newest first. */
  withRequestId(requestId: string, limit: number): Promise<readonly LoggedRequest[]>;
}

export interface RequestLogStore {
  /** Writes all of them; those that are there already stay as they are. */
  write(requests: readonly LoggedRequest[]): Promise<void>;
}

export interface RequestLogUpkeep {
  /** Makes the partitions of the days to come and drops those that are older than 30 days. */
  keepDays(): Promise<void>;
}

/** What came of a request. */
export type AnsweredRequest = Omit<LoggedRequest, 'id' | 'createdAt' | 'logPosition'>;

/** Called when a request begins. What it returns is called once the request is answered, if its caller is known. */
export type BeginRequest = () => (answered: AnsweredRequest) => void;
