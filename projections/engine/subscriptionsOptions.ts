// The options with which a process takes part in a role.

import type { LogConsumer } from '../../application/ports/consumers.ts';
import type { EventLog } from '../../application/ports/eventCodec.ts';
import type { Position } from '../../application/ports/eventStore.ts';
import type { LeaderSession, OpenLeaderSession } from '../../application/ports/sql.ts';
import type { CheckpointMismatch } from './checkpoints.ts';
import type { ParkedStream } from './parkedStreams.ts';
import type { OtherVersion } from './schemaVersions.ts';

export interface SubscriptionsOptions extends EventLog {
  /** Names the leadership lock and the progress notices. */
  readonly role: 'projector' | 'reactor';
  readonly consumers: readonly LogConsumer[];
  /** Other work that one process of the role does at a time. Default: none. */
  readonly duties?: readonly string[];
  readonly versionOf?: (consumer: LogConsumer) => number;
  readonly openSession: OpenLeaderSession;
  /** Called on the leader's session with consumers that it took, before their first batch. Returns those of another version. */
  readonly prepare?: (session: LeaderSession, names: readonly string[]) => Promise<readonly OtherVersion[]>;
  /** Called with the consumers that this process leaves out. */
  readonly onOtherVersions?: (others: readonly OtherVersion[]) => void;
  /**
   * Called after each commit of this process, before other processes are notified: these consumers have reached `position`, the idle ones
   * because they had nothing to do.
   */
  readonly onMoved: (consumers: readonly string[], position: Position, idle?: readonly string[]) => void;
  /** Called after the commit, before `onMoved`. */
  readonly onParked?: (streams: readonly ParkedStream[]) => void;
  /** Called when a retry of a parked stream has succeeded. */
  readonly onTaken?: (consumer: string, stream: string) => void;
  /** Called when a consumer fails as a whole. Its position stays, and it is retried automatically. */
  readonly onFault: (consumer: string, error: Error) => void;
  /** Called when the log doesn't match the checkpoints. No consumer continues. */
  readonly onMismatch: (error: CheckpointMismatch) => void;
  /** Called when a fault ends the leadership, or a batch meets a transient fault. Both are retried automatically. */
  readonly onRestart?: (error: Error) => void;
  readonly batchSize?: number;
  /** Longest pause between retries of a consumer that failed as a whole, in milliseconds. */
  readonly retryDelayMsMax?: number;
  /** How long a process of a newer version may take to lead the read models that it built, in milliseconds. Default: 5,000. */
  readonly yieldMs?: number;
}
