// A payer of the sandbox: the Pix is booked and the gateway told in one transaction, so that no sandbox Pix goes untold.
import type { JobQueue } from '../../../application/ports/jobs.ts';
import type { PixNotifications } from '../../../application/ports/pixNotifications.ts';
import type { SandboxBankPort } from '../../../application/ports/sandboxBank.ts';
import type { SqlPool } from '../../../application/ports/sql.ts';
import { amountText } from '../../../domain/pix/amountText.ts';

export const sandboxPayer = (db: SqlPool, notifications: PixNotifications, jobs: JobQueue): SandboxBankPort => ({
  pay: async (tenant, paymentId, txid, receipt) => {
    const { endToEndId, amount, payer, paidAt } = receipt;
    const isNew = await db.transaction(async (tx) => {
      const { rowCount } = await tx.query({
        name: 'sandbox_book',
        text: `INSERT INTO sandbox_bank.pix (account_id, end_to_end_id, txid, amount, payer_name, payer_document, paid_at)
          VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`,
        values: [tenant.accountId, endToEndId, txid, amount, payer.name, payer.document, paidAt],
      });
      if (rowCount !== 1) return false;
      // As a provider would call back (pix.md): amounts are decimal strings there, the payer an extension.
      const raw = JSON.stringify({
        pix: [
          {
            endToEndId,
            txid,
            valor: amountText(amount),
            horario: paidAt,
          },
        ],
      });
      return notifications.store({ tenant, endToEndId, paymentId }, raw, tx);
    });
    jobs.wake(['settle']);
    return isNew;
  },
});
