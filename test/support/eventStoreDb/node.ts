// The state shared by the services of the test server.
import type { Access } from './access.ts';
import type { AppendDesk } from './appendDesk.ts';
import { notLeader, unavailable } from './errors.ts';
import type { Faults, Watch } from './faults.ts';
import type { Log } from './log.ts';
import type { OpenSubscriptions } from './openSubscriptions.ts';

export interface Node {
  readonly log: Log;
  readonly faults: Faults;
  readonly watch: Watch;
  readonly access: Access;
  readonly desk: AppendDesk;
  readonly subscriptions: OpenSubscriptions;
}

/** Throws if this node is not the leader. */
export const requireLeader = ({ faults }: Node): void => {
  if (faults.leaderElsewhere !== null) throw notLeader(faults.leaderElsewhere);
};

/** Throws if this node is busy. Batch append reports this in its own way. */
export const requireReady = ({ faults }: Node): void => {
  if (faults.busy !== null) throw unavailable(faults.busy);
};
