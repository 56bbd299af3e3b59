// Alerts about payouts for operators, written to the log.

import type { PayoutAlerts } from '../../application/ports/payoutRail.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import type { Log } from '../log/log.ts';

export const payoutAlerts = (log: Log): PayoutAlerts => ({
  confirmedLate: ({ accountId: account, mode, payoutId }) =>
    log.warn(
      { account, mode, payout: PAYOUT.idPrefix + payoutId },
      'payout confirmed after its failure: debited from the wallet again',
    ),
});
