// Stores the progress of reconciliation: how far the list of each mode's provider was compared with notifications.
import type { Mode } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';

export interface Reconciliations {
  /** Returns the time up to which the list was compared, or null if it never was. */
  reconciledUntil(mode: Mode): Promise<Timestamp | null>;
  /** Stores the progress durably. Also replaces a later value, which can only come from a wrong clock. */
  saveReconciledUntil(mode: Mode, until: Timestamp): Promise<void>;
}
